"""Classifiers for several classes, built from learners for two."""
