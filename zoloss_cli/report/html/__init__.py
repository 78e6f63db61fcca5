"""The HTML report: tables next to published values, figures, and the provenance of each number."""
