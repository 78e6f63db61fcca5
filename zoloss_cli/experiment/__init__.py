"""Experiments: what to run, a single task, where tasks run, and the run itself."""
