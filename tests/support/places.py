"""Where the checkout and its reference results are."""

from __future__ import annotations

from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
REFERENCE = TOP / "results" / "reference"
