"""Proofs of the fewest errors: certificates, and the checker, which imports nothing of the rest."""
