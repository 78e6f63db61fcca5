"""Choices as griffe can read them: of `{'a', 'b'}, default='b'` it takes the first for the default."""

from __future__ import annotations

import re

import griffe

CHOICES = re.compile(r"^(\s*\w[\w, ]* : )\{(.+?)\}", re.M)


class Choices(griffe.Extension):
    """Write choices in braces as `one of 'a', 'b'` before docstrings are parsed."""

    def on_instance(self, *, obj, **options):
        """Change the docstring of an object that has been read."""
        if obj.docstring:
            obj.docstring.value = CHOICES.sub(r"\1one of \2", obj.docstring.value)
