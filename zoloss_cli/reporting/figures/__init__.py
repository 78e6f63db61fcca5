"""Figures of results: `registry` lists them, `catalog` finds the runs from which they can be drawn."""
