"""Tables, comparisons, statistics and pages from stored results."""
