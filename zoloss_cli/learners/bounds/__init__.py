"""Perceptrons with proved bounds on their mistakes, and with a rule that says when to stop."""
