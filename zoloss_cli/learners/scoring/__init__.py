"""Scoring systems: rules of a few conditions with small integer points and a threshold."""
