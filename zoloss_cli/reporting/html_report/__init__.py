"""One page for a browser: tables beside print, figures, and how each number was made."""
