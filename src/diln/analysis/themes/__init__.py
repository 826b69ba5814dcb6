"""Themes: groups of topics, for an overview of a model with many topics."""

from diln.analysis.themes.find import Grouping, themes
from diln.analysis.themes.records import Theme, Themes, Tree
from diln.analysis.themes.space import Documents

__all__ = ["Documents", "Grouping", "Theme", "Themes", "Tree", "themes"]
