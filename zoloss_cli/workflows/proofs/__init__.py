"""Checks of proofs of the fewest errors, in integers, by code that shares nothing with the search for them."""
