"""Files and folders as sources of documents."""

from diln.corpus.readers.detect import FORMATS, ReadOptions, open_source

__all__ = ["FORMATS", "ReadOptions", "open_source"]
