"""One public function for each command: `zoloss_cli` exports them, and docs/python.md shows how to use them."""
