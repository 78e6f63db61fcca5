"""The command line as Python functions: `zoloss_cli` exports them, and docs/python.md shows how to use them."""
