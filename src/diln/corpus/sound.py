"""Tables of counts from anywhere: what compiled loops take on trust is looked at here, once."""

from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, dia_array, issparse

from diln.errors import SourceError

LARGEST_COUNT = 2**31 - 1
MOST_TERMS = 2**31 - 1  # a term's number has 32 bits
MOST_CELLS = 2**31  # of a table that is not sparse
MANY = 2**20  # rows or columns that a table may have whatever is in it
SPARSEST = 64  # rows or columns for each entry, where there are more than MANY

COMPRESSED = ("csr", "csc", "bsr")


def sound_rows(X: Any, name: str) -> csr_array:
    """A table (n_docs, n_terms), sparse or not, as rows whose indices can be followed and whose values can be counts.

    Values are finite numbers from 0 on, of the type that they came in. The memory may be that of the table; what is
    cached of the order of its indices is not taken over.
    """
    table: Any = X if issparse(X) else dense(X, name)
    kind = getattr(table, "dtype", np.dtype(object))  # that of a sparse matrix is its values', which may be no array
    if table.ndim != 2 or kind.kind not in "buif":
        found = bags_or_text(X) or f"{table.ndim} dimension(s) of type {kind}"
        raise SourceError(
            f"{name}: has {found}; counts must be a table of numbers, a document a row and a term a column"
        )
    rows = _rows(table, name) if issparse(table) else csr_array(table)
    check_numbers(rows.data, name)
    return rows


def dense(X: Any, name: str) -> NDArray[Any]:
    """A table that is not sparse as an array."""
    if np.ma.isMaskedArray(X) and np.ma.is_masked(X):
        raise SourceError(f"{name}: has masked values; put counts in their place, as X.filled(0) does")
    try:
        table = np.asarray(X)
    except (ValueError, TypeError, OverflowError, RecursionError):
        found = bags_or_text(X) or "rows of different lengths"
        raise SourceError(
            f"{name}: has {found}; counts must be a table of numbers, a document a row and a term a column"
        ) from None
    if table.size > MOST_CELLS:
        raise SourceError(f"{name}: has {table.size:,} values; give so many as a sparse matrix")
    if table.dtype.kind == "f" and table.dtype.itemsize not in (4, 8):  # for which there are no sparse matrices
        with np.errstate(over="ignore"):
            return table.astype(np.float64)
    return table if table.dtype.isnative else table.astype(table.dtype.newbyteorder("="))


def bags_or_text(X: Any) -> str:
    """What lists hold in place of rows of numbers, and what counts it; nothing where that is not known."""
    if not isinstance(X, list | tuple):
        return ""
    first = next((one for one in X if isinstance(one, str) or (isinstance(one, list | tuple) and len(one))), [])
    if isinstance(first, str):
        return "text, which Corpus.from_texts(texts) counts"
    if any(isinstance(one, str) for one in first):
        return "lists of words, which Corpus.from_tokens(documents) counts"
    if first and all(isinstance(one, tuple) and len(one) == 2 for one in first):
        return "bags of words, which Corpus.from_bow(bags, dictionary) takes"
    return ""


def check_numbers(values: NDArray[Any], name: str) -> None:
    """Raise unless all values are finite, none is negative and none too large to be added to others."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise SourceError(f"{name}: has a value that is NaN or infinite; put 0 where a term does not occur")
    if values.dtype.kind in "if" and values.min(initial=0) < 0:
        raise SourceError(
            f"{name}: Negative values in data, such as {values.min()}; counts are whole numbers from 0 on"
        )
    if values.dtype.kind in "iuf" and values.max(initial=0).item() > LARGEST_COUNT:
        raise SourceError(f"{name}: has a count of {values.max()}; the largest that can be held is {LARGEST_COUNT}")


def _rows(table: Any, name: str) -> csr_array:
    """A sparse table as rows, made anew from its parts; raise if one of them points outside."""
    try:
        if table.format in COMPRESSED:
            _check_whole(table.indices, table.indptr)
        _check_extent(table, name)
        return csr_array(_anew(table, name))
    except SourceError:
        raise
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError, MemoryError) as error:
        told = " ".join(str(error).split()) or type(error).__name__
        raise SourceError(f"{name}: is not a sound sparse matrix ({told}); make it again from its values") from None


def _check_extent(table: Any, name: str) -> None:
    n_docs, n_terms = table.shape
    if n_terms > MOST_TERMS:
        raise SourceError(f"{name}: has {n_terms:,} columns; at most {MOST_TERMS:,} can be worked with")
    check_filled(n_docs, table.nnz, name, "rows")


def check_filled(size: int, n_entries: int, name: str, what: str) -> None:
    """Raise if a table has far more rows, or columns, than entries: memory is needed for all, and most are empty."""
    if size > max(MANY, SPARSEST * n_entries):
        raise SourceError(f"{name}: has {size:,} {what} but {n_entries:,} entries; leave out {what} without a count")


def _anew(table: Any, name: str) -> Any:
    """The same sparse table, of the same memory where that can be, after SciPy's checks and some that it leaves out."""
    if table.format in COMPRESSED:
        if (table.indptr[1:] < table.indptr[:-1]).any():  # which SciPy looks at only where the last is above 0
            raise ValueError("indptr must be a non-decreasing sequence")
        kind = getattr(scipy.sparse, f"{table.format}_array")
        anew = kind((table.data, table.indices, table.indptr), shape=table.shape)
        anew.check_format(full_check=True)
        return anew
    if table.format == "coo":
        _check_whole(*table.coords)
        check_numbers(table.data, name)
        wide = np.float64 if table.dtype.kind == "f" else np.int64  # repeated places are added up on the way to rows
        return coo_array((table.data.astype(wide), table.coords), shape=table.shape)
    if table.format == "dia":
        _check_whole(table.offsets)
        if len(table.offsets) and (table.offsets.min() <= -table.shape[0] or table.offsets.max() >= table.shape[1]):
            raise ValueError("a diagonal lies outside")
        return dia_array((table.data, table.offsets), shape=table.shape)
    return _anew(_from_lists(table) if table.format == "lil" else table.tocoo(), name)


def _check_whole(*places: NDArray[Any]) -> None:
    for some in places:
        if some.dtype.kind not in "iu":
            raise TypeError(f"its indices are of type {some.dtype}")


def _from_lists(table: Any) -> Any:
    """A table of lists: SciPy's own way relies on both lists of a row being of one length."""
    sizes = [len(row) for row in table.rows]
    if len(sizes) != table.shape[0] or sizes != [len(row) for row in table.data]:
        raise ValueError("its lists differ in length")
    columns = np.array(list(chain.from_iterable(table.rows)), np.int64)
    values = np.array(list(chain.from_iterable(table.data)), table.dtype)
    return coo_array((values, (np.repeat(np.arange(len(sizes)), sizes), columns)), shape=table.shape)
