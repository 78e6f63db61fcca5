"""What the papers print, and what is known about the cells that differ."""
