"""Tables, comparisons, statistics, figures and pages from stored results."""
