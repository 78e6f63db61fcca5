# zoloss with its data, configs and compiled kernels. Nothing is downloaded when it runs:
#   docker build --tag zoloss .
#   docker run --rm --network none --volume "$PWD:/data" --user "$(id -u)" zoloss fit mine.csv
ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
# g++ builds liblinear-official, which the learners lr and svm need; the final image has no compiler.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends g++ \
 && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN python -m venv /opt/zoloss && /opt/zoloss/bin/pip install --no-cache-dir "/source[parquet,excel]"

FROM python:${PYTHON}-slim
COPY --from=build /opt/zoloss /opt/zoloss
# Kernels are compiled for a processor that all have (NUMBA_CPU_NAME), and kept where every user may write.
ENV PATH=/opt/zoloss/bin:$PATH \
    NUMBA_CACHE_DIR=/var/cache/zoloss \
    NUMBA_CPU_NAME=generic \
    MPLCONFIGDIR=/tmp/matplotlib
RUN useradd --create-home --uid 1000 zoloss \
 && mkdir --parents /data "$NUMBA_CACHE_DIR" \
 && zoloss warmup \
 && chmod --recursive a+rwX "$NUMBA_CACHE_DIR" \
 && chown zoloss /data
USER 1000
WORKDIR /data
ENTRYPOINT ["zoloss"]
CMD ["--help"]
