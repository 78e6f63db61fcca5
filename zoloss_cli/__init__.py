"""zoloss: classifiers that minimize the 0/1 loss directly."""

__version__ = "0.1.0"
