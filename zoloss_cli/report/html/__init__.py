"""One page for a browser: tables next to published values, figures, and how each number was made."""
