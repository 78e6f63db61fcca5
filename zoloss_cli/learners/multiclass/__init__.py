"""Classifiers for several classes by way of learners for two."""
