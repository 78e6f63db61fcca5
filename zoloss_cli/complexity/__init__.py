"""How complex a data set is: Li's thesis (2006), chapter 1. Its parts, and what each example adds to it."""
