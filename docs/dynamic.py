"""Lets the API pages have docstrings as they are at run time: estimators write their options into theirs."""

from importlib import import_module
from inspect import cleandoc
from typing import Any

import griffe


class DynamicDocstrings(griffe.Extension):
    """Takes the docstrings of these classes from the classes themselves."""

    def __init__(self, paths: list[str]) -> None:
        self.paths = paths

    def on_class_instance(self, *, node: Any, cls: griffe.Class, **known: Any) -> None:
        """A class was read from its source."""
        if cls.path in self.paths:
            module, _, name = cls.path.rpartition(".")
            text = cleandoc(getattr(import_module(module), name).__doc__)
            cls.docstring = griffe.Docstring(text, parent=cls, lineno=cls.lineno)
