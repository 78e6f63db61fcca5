"""Small tools that know nothing about classifiers."""
