"""Full-text search in the documents of a corpus, by SQLite's FTS5 from the standard library."""

from diln.show.explorer.search.find import Hits, Search

__all__ = ["Hits", "Search"]
