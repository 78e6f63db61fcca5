"""The command line: one file per command, which only calls."""
