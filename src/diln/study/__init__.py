"""Models beside each other on one corpus: which is worth it, and what it takes.

A comparison is a set of runs, each a fit and its scores; a study defines which runs it needs and what they show.
"""

from diln.study.comparison import STUDIES, Comparison
from diln.study.folder import ResultsFolder
from diln.study.settings import Settings, settings_for

__all__ = ["STUDIES", "Comparison", "ResultsFolder", "Settings", "settings_for"]
