"""Boosting for two classes, and its base learners."""
