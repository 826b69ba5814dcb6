"""Records of documents: parts of them share memory, and their sums add up."""

import numpy as np

from diln.inference.variational.documents import DocumentBeliefs, DocumentSums


def some_sums(rng):
    return DocumentSums(rng.normal(size=3), rng.normal(size=3), *rng.normal(size=4).tolist())


def test_sums_over_some_documents_and_over_others_add_up():
    rng = np.random.default_rng(0)
    one, other = some_sums(rng), some_sums(rng)
    both = one + other
    np.testing.assert_array_equal(both.tables, one.tables + other.tables)
    np.testing.assert_array_equal(both.lifts, one.lifts + other.lifts)
    assert both.profile == one.profile + other.profile
    assert np.isclose(both.bound, one.bound + other.bound)


def test_what_a_step_writes_into_a_part_of_the_beliefs_is_known_of_all():
    beliefs = DocumentBeliefs(np.zeros((5, 2)), np.zeros((5, 3)), np.zeros(5))
    part = beliefs.cut(1, 3)
    assert part.n_docs == 2
    part.tokens[:], part.intercepts[:] = 1, 1
    assert beliefs.tokens.sum(axis=1).tolist() == [0, 2, 2, 0, 0]
    assert beliefs.intercepts.tolist() == [0, 1, 1, 0, 0]
