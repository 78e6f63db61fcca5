"""Experiments: what to run, one task of it, where tasks run, and the run itself."""
