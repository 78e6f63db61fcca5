"""Data sets: embedded, downloaded, generated or a user's own; splits, noise and scaling."""
