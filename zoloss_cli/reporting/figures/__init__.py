"""Figures of results: `registry` lists them, `catalog` finds the runs that they can be drawn of."""
