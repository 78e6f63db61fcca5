"""Learners that search for the fewest training errors."""
