"""The ``diln`` command."""

from diln.cli.main import main

__all__ = ["main"]
