"""Where the checkout and its reference results are."""

from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
REFERENCE = TOP / "results" / "reference"
