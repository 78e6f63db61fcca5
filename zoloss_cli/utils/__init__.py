"""Small tools that know nothing of classifiers."""
