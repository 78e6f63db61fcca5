"""Figures of the papers and of any run, ready for print. The list of them is catalog.py."""
