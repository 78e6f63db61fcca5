"""Linear learners that minimize a surrogate of the 0/1 loss, or learn from mistakes."""
