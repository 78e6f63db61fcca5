"""Boosting for two classes, and the base learners made for it."""
