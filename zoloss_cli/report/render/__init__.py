"""Tables, comparisons and statistics as text, Markdown, LaTeX, CSV or HTML: one file per format."""
