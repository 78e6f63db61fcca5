# The same calls in CI and by hand. Each target sets up what it needs in its own virtual environment.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PACKAGE := $(VENV)/.package
STAMP := $(VENV)/.installed
RESULTS ?= results
# Splits to run instead of those of the configs, for all tables: make table2 SPLITS=2.
SPLITS ?=
QUICK_SPLITS := 2
RUN = $(BIN)/zoloss run $(if $(SPLITS),--splits $(SPLITS)) --jobs $(JOBS) --out $(RESULTS)
JOBS ?= $(shell $(PYTHON) -c "import os; print(os.cpu_count())")

SEED ?=
MINUTES ?= 10

.PHONY: install quickstart browser test coverage test-bounds torture reproduce docs site test-lowest bench growth speeds lint man release-check table2 table3 table4 tables nguyen thesis reference schema clean

install: $(STAMP)

# liblinear-official is the only package that is built from source; the learners that it is for say so without it.
HAVE_COMPILER = { command -v c++ || command -v g++ || command -v clang++; } >/dev/null
LIST_OTHERS = import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
  print(*(n for n in p["dependencies"] if not n.startswith("liblinear")), sep="\n")
LIST_TOOLS = import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; \
  print(*p["dev"], *p["docs"], sep="\n")
PIP_INSTALL = $(BIN)/python -m pip --quiet --disable-pip-version-check install $(INSTALL_OPTIONS)

# zoloss and what it needs.
$(PACKAGE): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	@if $(HAVE_COMPILER); then $(PIP_INSTALL) -e .; else \
	  $(BIN)/python -c '$(LIST_OTHERS)' > $(VENV)/others.txt && \
	  $(PIP_INSTALL) -r $(VENV)/others.txt && $(PIP_INSTALL) --no-deps -e . && \
	  echo "no C++ compiler is installed, so liblinear-official is left out: the learners lr and svm are missing," \
	    "and searches start from scikit-learn's weights; with g++ or clang++: $(BIN)/pip install liblinear-official"; fi
	@touch $@

# The tools of the tests beside it. Meanwhile the other core compiles the kernels, which no two tests then do at once.
$(STAMP): $(PACKAGE)
	@$(BIN)/python -c '$(LIST_TOOLS)' > $(VENV)/tools.txt
	$(BIN)/zoloss warmup > $(VENV)/warmup.txt 2>&1 & kernels=$$!; \
	  $(PIP_INSTALL) -r $(VENV)/tools.txt && wait $$kernels || { cat $(VENV)/warmup.txt; exit 1; }
	@touch $@

quickstart:
	@echo "zoloss is installed into $(VENV), then Table II runs on $(QUICK_SPLITS) of its 500 splits:" \
	  "about 90 seconds on two cores"
	@$(MAKE) --no-print-directory $(PACKAGE)
	$(BIN)/zoloss run configs/table2.yaml --splits $(QUICK_SPLITS) --jobs $(JOBS) --out $(RESULTS)
	$(BIN)/zoloss table $(RESULTS) --table II

# The tests of the HTML report run in Chromium: an installed one, or Debian's where it may be installed.
HAVE_BROWSER = { test -n "$$ZOLOSS_BROWSER" || command -v chromium || command -v chromium-browser || \
  command -v google-chrome || command -v google-chrome-stable; } >/dev/null

browser:
	@$(HAVE_BROWSER) || ! command -v apt-get >/dev/null || test "$$(id -u)" != 0 || { \
	  apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium >/dev/null; } || true

# Every worker compiles the kernels that it uses, so more workers do not help. Each has a part of the suite that hangs
# together, so that what the tests of a file share is built once, and takes of the other's when it is done.
ON_CORES = -n auto --maxprocesses 4 --dist worksteal

test: install browser
	@if $(HAVE_BROWSER); then $(BIN)/python -m pytest $(ON_CORES); else \
	  echo "no Chromium is installed: the tests of the HTML report in a browser are left out"; \
	  $(BIN)/python -m pytest $(ON_CORES) -m "not browser and not long"; fi

coverage: install browser
	$(BIN)/python -m pytest $(ON_CORES) --cov --cov-report=term:skip-covered

# The kernels with every index checked. They are compiled anew each time, apart from the ordinary ones: numba does
# not see that a kernel of another file has changed. Compiling takes most of the time, so one process does it once: the
# first tests fit every learner.
BOUNDS_CACHE := $(CURDIR)/.bounds_cache

test-bounds: install
	rm -rf $(BOUNDS_CACHE)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(BOUNDS_CACHE) $(BIN)/python -m pytest \
	  tests/contract/test_extreme_data.py tests/unit/learners/search/test_far_from_zero.py \
	  tests/oracle/test_line_search.py tests/oracle/test_hull.py tests/oracle/test_pivot.py \
	  tests/oracle/test_contribution.py tests/oracle/test_decomposition.py tests/oracle/test_stream.py

# Kills, signals, changed files, full disks and hostile inputs by the thousand; each try has a seed, and what finds a
# fault says how to repeat it. See docs/reliability.md.
torture: install
	$(BIN)/python tests/torture --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

# The published values that take too long for the suite, computed anew and compared to the digit.
reproduce: install
	$(BIN)/python -m pytest $(ON_CORES) -m long

# The suite with the oldest versions that pyproject.toml allows.
test-lowest:
	$(PYTHON) -m venv $(VENV)-lowest
	$(VENV)-lowest/bin/python -m pip install --quiet uv
	$(VENV)-lowest/bin/uv pip install --quiet --python $(VENV)-lowest/bin/python --resolution lowest-direct -e ".[dev,docs]"
	$(VENV)-lowest/bin/python -m pytest $(ON_CORES)

bench: install
	$(BIN)/python -m pytest tests/bench --benchmark-only -q --benchmark-disable-gc --benchmark-columns=min,median,rounds
	$(BIN)/python tests/bench/instructions.py

# Costs against samples, features, classes, splits and cores, with slopes and the figure of docs/speed.md.
growth: install
	$(BIN)/python tests/bench/growth.py docs/figures/growth.svg

# The times that `zoloss learners` shows; ONLY="scoring pivot" for some of them.
speeds: install
	$(BIN)/python tests/bench/learner_speeds.py zoloss_cli/api/learner_speeds.csv $(ONLY)

# The same checks that .pre-commit-config.yaml runs before a commit.
lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/numpydoc lint $$(git ls-files 'zoloss_cli/*.py')
	$(BIN)/codespell zoloss_cli docs configs *.md

# The man page, from the help of the commands.
man: install
	$(BIN)/python tests/support/man_page.py

# All of a release that can be checked before it; sdist and wheel are left in dist/. TAG=v1.0.0 asks for that version.
release-check: install
	$(PYTHON) -m venv $(VENV)-release
	@$(BIN)/python -c '$(subst "dev","release",$(LIST_TOOLS))' > $(VENV)-release/tools.txt
	$(VENV)-release/bin/python -m pip --quiet --disable-pip-version-check install -r $(VENV)-release/tools.txt
	bash .ci/check_release $(VENV) $(VENV)-release $(TAG)

NUMBER_table2 := II
NUMBER_table3 := III
NUMBER_table4 := IV

table2 table3 table4: install
	$(RUN) configs/$@.yaml
	$(BIN)/zoloss table $(RESULTS) --table $(NUMBER_$@)

# Table IV marks with * the cells that are better than Table III.
table4: table3

tables: install
	for config in table2 table3 table4 thesis/table2.2 thesis/table2.3 thesis/table2.4; do \
	  $(RUN) configs/$$config.yaml || exit; done
	$(BIN)/zoloss table $(RESULTS)
	$(BIN)/zoloss compare $(RESULTS) --beyond 2

# Nguyen & Sanner (2013): all tables and figures, and proved bounds for the data of Table 1. Without a network, indian has
# the 579 records that come with zoloss.
nguyen: install
	-$(BIN)/zoloss datasets fetch indian583
	for config in table1 table2 table3 table4 table4-clean table4-noiseless bounds figure1 figure9; do \
	  $(RUN) configs/nguyen/$$config.yaml || exit; done
	for table in 1 2 3 4 nguyen-table4-clean nguyen-table4-noiseless nguyen-bounds; do \
	  $(BIN)/zoloss table $(RESULTS) --table $$table || exit; done

# Li's thesis (2006), chapters 1, 3 and 4: the complexity of data, CGBoost against AnyBoost, and boosting for several
# classes. Table 4.5 takes longer than all others together.
thesis: install
	for config in figure1.5 figure1.8 figure1.11 figure1.12 figure1.13 \
	    figure2.1 figure2.2 figure2.3 figure2.4 section2.2-voted section2.4.2 section2.4.2-romma \
	    table3.1 table3.2 figure3.1 table4.2 table4.3 table4.4 table4.5 \
	    table4.2-folds table4.3-folds table4.4-folds section4.1-codes section4.2-asymmetric \
	    figure4.2 figure4.3 figure4.4 figure4.5; do \
	  $(RUN) configs/thesis/$$config.yaml || exit; done
	$(RUN) configs/prune.yaml
	for table in figure1.5 figure1.8 figure1.12 prune 3.1 3.2 4.2 4.3 4.4 4.5; do $(BIN)/zoloss table $(RESULTS) --table $$table || exit; done

# The results in results/reference, with the papers' 500 splits.
reference: install
	$(MAKE) tables RESULTS=results/reference
	for config in table4-fld table4-svm table4-weighting rcd-rules convergence rcd-probability sensitivity proofs \
	    scoring; do \
	  $(BIN)/zoloss run configs/$$config.yaml --jobs $(JOBS) --out results/reference || exit; done
	for config in figure3 figure4 perceptron/bounds perceptron/small-margin; do \
	  $(BIN)/zoloss run configs/$$config.yaml --jobs $(JOBS) --out results/reference || exit; done
	$(MAKE) nguyen thesis RESULTS=results/reference

# The documentation site in build/site; a warning is an error. Material announces another generator in each build.
site: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --config-file .mkdocs.yml
	@echo "the site is in build/site; open build/site/index.html, or: $(PYTHON) -m http.server --directory build/site"

# The outputs of the commands on the pages, and their figures.
docs: install
	$(BIN)/python tests/support/documents.py
	for figure in 1.5 1.12; do \
	  $(BIN)/zoloss plot results/reference --figure $$figure --out docs/figures/figure-$$figure.png --force || exit; done

schema: install
	$(BIN)/zoloss schema > configs/schema.json.new
	mv configs/schema.json.new configs/schema.json

clean:
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-release build dist .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis \
	  .benchmarks .bounds_cache .coverage
