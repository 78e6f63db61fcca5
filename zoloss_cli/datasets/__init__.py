"""Data sets from any source: embedded, downloaded, the user's own tables, generated."""
