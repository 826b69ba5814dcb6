"""What is imported from the analysis by its name is what the name says."""

import importlib
import pkgutil
from types import ModuleType

import pytest

import diln.analysis


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(diln.analysis.__path__)])
def test_no_function_hides_the_module_that_it_is_in(name):
    importlib.import_module(f"diln.analysis.{name}")
    assert isinstance(getattr(diln.analysis, name), ModuleType)
