"""Checks of proofs of the fewest errors, in integers, with code that shares nothing with the search."""
