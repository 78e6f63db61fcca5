"""One page for a browser: tables beside published values, figures, and how each number was made."""
