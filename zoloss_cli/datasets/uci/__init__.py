"""The original files of the embedded data sets, from the UCI archive."""
