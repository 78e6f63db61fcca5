"""What the command line does, as functions: `zoloss_cli` exports them, and docs/python.md shows them."""
