"""Multiclass classifiers, built from binary ones."""
