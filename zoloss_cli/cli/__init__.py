"""The command line: one file per command, with calls only."""
