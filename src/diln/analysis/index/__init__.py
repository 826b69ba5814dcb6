"""The documents that a model was made of, as it sees them: kept beside the model, and searched."""

from diln.analysis.index.duplicates import duplicates
from diln.analysis.index.index import CORPUS_FOLDER, FOLDER, Index, index_of
from diln.analysis.index.outliers import outliers
from diln.analysis.index.search import Query

__all__ = ["CORPUS_FOLDER", "FOLDER", "Index", "Query", "duplicates", "index_of", "outliers"]
