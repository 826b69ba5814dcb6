"""Tables of counts, however they are stored and whatever is wrong with them, become sound rows or a sentence."""

import numpy as np
import pytest
from scipy import sparse

from diln.corpus import Corpus
from diln.corpus.sound import MANY, sound_rows
from diln.errors import SourceError

COUNTS = np.random.default_rng(0).poisson(1.0, (6, 8))
FORMATS = ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"]
each_format = pytest.mark.parametrize("form", FORMATS)
each_kind = pytest.mark.parametrize("kind", ["array", "matrix"])


def stored(form, kind="array", counts=COUNTS):
    """The counts in one of SciPy's formats, of their own memory."""
    return getattr(sparse, f"{form}_{kind}")(counts).copy()


def refused(table):
    with pytest.raises(SourceError, match=r"^X: .*; [^\n]*[^.]$") as raised:
        sound_rows(table, "X")
    return str(raised.value)


@each_format
@each_kind
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.uint64, np.float32, np.float64])
def test_every_format_and_type_gives_the_same_rows(form, kind, dtype):
    counts = COUNTS.astype(dtype)
    rows = sound_rows(stored(form, kind, counts), "X")
    np.testing.assert_array_equal(rows.toarray(), counts)


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble, ">i4", ">f8"])
def test_types_that_sparse_matrices_do_not_have_are_taken_too(dtype):
    np.testing.assert_array_equal(sound_rows(COUNTS.astype(dtype), "X").toarray(), COUNTS)


def test_arrays_that_are_read_only_mapped_turned_or_cut_are_taken(tmp_path):
    np.save(tmp_path / "a.npy", COUNTS)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    for table in (mapped, np.asfortranarray(COUNTS), COUNTS.repeat(2, axis=1)[:, ::2], COUNTS.tolist()):
        np.testing.assert_array_equal(sound_rows(table, "X").toarray(), COUNTS)
    held = stored("csr")
    for part in (held.data, held.indices, held.indptr):
        part.flags.writeable = False
    np.testing.assert_array_equal(sound_rows(held, "X").toarray(), COUNTS)


def test_a_table_without_rows_or_columns_is_left_to_whoever_asked():
    assert sound_rows(np.zeros((0, 3)), "X").shape == (0, 3)
    assert sound_rows(sparse.csr_array((3, 0)), "X").shape == (3, 0)


def test_what_was_cached_of_the_order_of_indices_is_not_believed():
    table = stored("csr")
    assert table.has_canonical_format
    table.indices[: table.indptr[1]] = table.indices[0]  # one term, several times
    assert not sound_rows(table, "X").has_canonical_format


def broken_places():
    for form in ("csr", "csc", "bsr"):
        for value in (10**8, 8, -1, np.iinfo(np.int32).min):
            table = stored(form)
            table.indices[0] = value
            yield f"{form}-index-{value}", table
        for place, value in ((0, 1), (1, 10**6), (2, -5), (-1, 10**6), (-1, 0), (-1, -(2**31))):
            table = stored(form)
            table.indptr[place] = value
            yield f"{form}-pointer-{place}-{value}", table
        for name in ("data", "indices", "indptr"):
            table = stored(form)
            setattr(table, name, getattr(table, name)[:-1])
            yield f"{form}-short-{name}", table
        table = stored(form)
        table.indptr = table.indptr * 1j
        yield f"{form}-complex-pointer", table
        table = stored(form)
        table.indices = table.indices + 0.5
        yield f"{form}-fractional-index", table
        table = stored(form, counts=np.zeros((6, 8), int))
        table.indptr[1] = 5  # and the last is 0
        yield f"{form}-pointer-beyond-nothing", table
        table = stored(form)
        table.indptr = table.indptr.astype(np.uint64)
        table.indptr[1] = 10**6
        yield f"{form}-unsigned-pointer", table
    for axis in (0, 1):
        for value in (10**8, -1):
            table = stored("coo")
            table.coords[axis][0] = value
            yield f"coo-{axis}-{value}", table
    table = stored("coo")
    table.data = table.data[:-1]
    yield "coo-short", table
    table = stored("dia")
    table.offsets[0] = 10**9
    yield "dia-offset", table
    table = stored("lil")
    table.rows[0] = [10**8]
    yield "lil-length", table
    table = stored("lil")
    table.rows[0][0] = 10**8
    yield "lil-index", table
    table = stored("dok")
    table._dict[(10**8, 0)] = 1
    yield "dok-key", table


@pytest.mark.parametrize("table", [pytest.param(table, id=name) for name, table in broken_places()])
def test_a_sparse_matrix_that_points_outside_is_refused(table):
    assert "not a sound sparse matrix" in refused(table)


@pytest.mark.parametrize("form", ["coo", "csc", "dok"])
def test_more_rows_than_could_be_filled_are_refused_before_memory_is_taken(form):
    table = getattr(sparse, f"{form}_array")((10**12, 3), dtype=np.int32)
    assert "1,000,000,000,000 rows but 0 entries" in refused(table)
    assert sound_rows(sparse.coo_array((MANY, 1), dtype=np.int32), "X").shape == (MANY, 1)


def test_more_columns_than_a_term_can_have_numbers_are_refused():
    assert "columns; at most" in refused(sparse.csr_array((3, 2**31), dtype=np.int32))


def test_an_array_that_only_looks_large_is_refused_before_memory_is_taken():
    assert "as a sparse matrix" in refused(np.broadcast_to(np.int8(1), (10**6, 10**6)))


def test_masked_values_are_refused_and_a_mask_without_any_is_not():
    assert "masked values" in refused(np.ma.masked_equal(COUNTS, 0))
    np.testing.assert_array_equal(sound_rows(np.ma.array(COUNTS), "X").toarray(), COUNTS)


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[s]", "S1", "U1", "V4", complex, object])
def test_types_that_are_no_numbers_are_refused(dtype):
    assert "counts must be a table of numbers" in refused(np.zeros((2, 2), dtype))


@pytest.mark.parametrize(
    ("lists", "what"),
    [
        ([[(0, 1), (2, 3)], [(1, 1)]], "Corpus.from_bow(bags, dictionary)"),
        ([[(0, 1), (2, 3)], [(1, 1), (2, 2)]], "Corpus.from_bow(bags, dictionary)"),
        ([[], [(1, 1)]], "Corpus.from_bow(bags, dictionary)"),
        ([["red", "fox"], ["dog"]], "Corpus.from_tokens(documents)"),
        (["red fox", "dog"], "Corpus.from_texts(texts)"),
        ([[1, 2], [3]], "rows of different lengths"),
        (None, "0 dimension(s)"),
        ([[[1]]], "3 dimension(s)"),
    ],
)
def test_what_is_counted_otherwise_is_told_so(lists, what):
    assert what in refused(lists)


def test_counts_that_add_up_to_more_than_can_be_held_are_refused():
    most = 2**31 - 1
    twice = sparse.coo_array((np.array([most, most], np.int32), ([0, 0], [0, 0])), shape=(1, 1))
    with pytest.raises(SourceError, match="the largest that can be held"):
        Corpus.from_matrix(twice, ["elk"])


@pytest.mark.parametrize(
    ("bags", "dictionary", "fragment"),
    [
        ([[(0,)]], {0: "elk"}, "give lists of"),
        ([3], {0: "elk"}, "give lists of"),
        ([[(0.5, 1)]], {0: "elk"}, "term number 0.5"),
        ([[("0", 1)]], {0: "elk"}, "values of type str"),
        ([[(10**30, 1)]], {0: "elk"}, "term number 1e+30"),
        ([[(0, 10**400)]], {0: "elk"}, "the largest that can be held"),
        ([[(0, None)]], {0: "elk"}, "values of type"),
        ([[(0, [1])]], {0: "elk"}, "values of type"),
        ([[(0, 1)]], {"a": "elk", 0: "dog"}, "gaps"),
        ([[(0, 1)]], {None: "elk"}, "gaps"),
    ],
)
def test_bags_that_are_none_get_a_sentence(bags, dictionary, fragment):
    with pytest.raises(SourceError) as raised:
        Corpus.from_bow(bags, dictionary)
    assert fragment in str(raised.value)


def test_values_that_are_no_array_are_refused():
    table = sparse.csr_matrix(np.ones((2, 3), int))
    table.data = 3
    with pytest.raises(SourceError, match="counts must be a table of numbers"):
        sound_rows(table, "X")


def test_half_precision_is_compared_without_a_warning():
    table = sparse.csr_matrix(np.ones((2, 3)))
    table.data = table.data.astype(np.float16)
    assert sound_rows(table, "X").sum() == 6
