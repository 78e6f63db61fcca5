"""Metrics: one file each, from stored records to the numbers that tables show."""
