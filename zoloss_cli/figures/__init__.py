"""Figures of results and of the papers: `registry` lists them, `catalog` finds the runs they show."""
