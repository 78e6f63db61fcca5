"""The complexity of data sets, their decompositions, and the contributions of samples (Li 2006, chapter 1)."""
