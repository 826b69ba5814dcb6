"""Documents as the compiled loops take them."""

import numpy as np
from small import docs_of, terms_of

from diln.inference.data import Tokens


def test_tokens_lie_document_by_document_and_term_by_term():
    counts = np.array([[2, 0, 1], [0, 0, 0], [0, 3, 0]])
    tokens = Tokens.of(counts)
    assert (tokens.n_docs, tokens.n_terms, tokens.size) == (3, 3, 6)
    np.testing.assert_array_equal(tokens.starts, [0, 3, 3, 6])
    np.testing.assert_array_equal(terms_of(tokens), [0, 0, 2, 1, 1, 1])
    np.testing.assert_array_equal(docs_of(tokens), [0, 0, 0, 2, 2, 2])


def test_some_documents_tokens_are_counted_from_zero():
    last = Tokens.of(np.array([[2, 0, 1], [0, 0, 0], [0, 3, 0]])).cut(1, 3)
    assert (last.n_docs, last.n_terms, last.size) == (2, 3, 3)
    np.testing.assert_array_equal(last.starts, [0, 0, 3])
    np.testing.assert_array_equal(last.indptr, [0, 0, 1])
    np.testing.assert_array_equal(last.indices, [1])
    np.testing.assert_array_equal(last.counts, [3])
