"""Models beside each other on one corpus: which is worth it, and what it takes.

A comparison is a set of runs, each a fit and its scores; a study says which runs it needs and what they come to.
"""

from diln.analysis.study.comparison import STUDIES, Comparison
from diln.analysis.study.settings import Settings, settings_for
from diln.analysis.study.shelf import Shelf

__all__ = ["STUDIES", "Comparison", "Settings", "Shelf", "settings_for"]
