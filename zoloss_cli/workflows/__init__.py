"""Learners on one's own table: its columns as features, a rule in its units, and a file that keeps the rule."""
