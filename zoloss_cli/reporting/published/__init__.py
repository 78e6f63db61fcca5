"""What the papers publish, and what is known about the cells that differ."""
