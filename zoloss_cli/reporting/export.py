"""The DataFrame of results as a file for other programs: CSV or parquet."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from zoloss_cli.errors import ConfigError
from zoloss_cli.reporting.render.csv import guard_cell
from zoloss_cli.reporting.render.formats import EXPORT_FORMATS
from zoloss_cli.utils.optional_imports import import_optional

if TYPE_CHECKING:
    import pandas as pd

CSV, PARQUET = EXPORT_FORMATS


def choose_export_format(format: str | None, out: Path | None) -> str:
    """Return the requested format, or the one implied by the file's name, or CSV.

    Parquet needs a file and a package, and what is missing is reported before anything is read.
    """
    chosen = format or (PARQUET if out is not None and out.suffix == ".parquet" else CSV)
    if chosen == PARQUET:
        if out is None:
            raise ConfigError("--format parquet is for a file: name it with --out")
        import_optional("pyarrow", "--format parquet")
    return chosen


def render_frame(frame: pd.DataFrame, format: str) -> bytes:
    """Return a DataFrame of results as the content of a file.

    Parameters
    ----------
    frame : pandas.DataFrame
        The DataFrame from `load_results`.
    format : {'csv', 'parquet'}
        In CSV, text that starts like a formula is preceded by an apostrophe, as in all CSV that zoloss writes.

    Returns
    -------
    bytes
        The content.
    """
    if format == PARQUET:
        content = io.BytesIO()
        frame.to_parquet(content, engine="pyarrow", index=False)
        return content.getvalue()
    return _guard_texts(frame).to_csv(index=False, lineterminator="\n").encode()


def _guard_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with texts that no spreadsheet treats as formulas; each text is checked once."""
    guarded = {}
    for name in frame.columns:
        if frame[name].dtype != "category":
            continue
        texts = {text: guard_cell(text) for text in frame[name].cat.categories}
        if any(text != changed for text, changed in texts.items()):
            guarded[name] = frame[name].map(texts)
    return frame.assign(**guarded)
