"""Lets the API pages show options as they are at run time: their descriptions and defaults are not in docstrings."""

from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import cleandoc
from typing import Any

import griffe


class DynamicOptions(griffe.Extension):
    """Takes the docstrings of these classes from the classes themselves, and the defaults of declared options."""

    def __init__(self, documented: list[str], declared: str) -> None:
        self.documented, self.declared = documented, declared

    def on_class_members(self, *, cls: griffe.Class, **known: Any) -> None:
        """A class was read from its source."""
        module, _, name = cls.path.rpartition(".")
        if cls.path in self.documented and cls.docstring is not None:
            cls.docstring.value = cleandoc(getattr(import_module(module), name).__doc__)
        if module == self.declared and is_dataclass(owner := getattr(import_module(module), name)):
            for one in fields(owner):
                if one.name in cls.members:
                    cls.members[one.name].value = repr(one.default)
