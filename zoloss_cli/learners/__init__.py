"""Classifiers with the interface of scikit-learn, by family."""
