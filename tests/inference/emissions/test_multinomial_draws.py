"""Counts of terms in topics follow the tokens' topics."""

import numpy as np
import pytest
from small import counted, some_counts, some_documents, some_state, terms_of

from diln.inference.emissions.multinomial_draws import count_table, scatter
from diln.inference.sampling.tokens import NO_TOPIC

TOPICS = 20


@pytest.fixture
def docs():
    rng = np.random.default_rng(14)
    return some_documents(rng, some_counts(rng, 12, 15, empty=(3,)), TOPICS)


@pytest.fixture
def counts(docs):
    return some_state(np.random.default_rng(15), docs, TOPICS).counts


@pytest.fixture
def late(docs):
    """Topics of the tokens in three draws."""
    return np.random.default_rng(2).integers(0, TOPICS, (3, docs.tokens.size)).astype(np.uint16)


def shares(docs, late, share, width):
    """Table (n_terms, width) of a share for every token and draw."""
    table = np.zeros((docs.tokens.n_terms, width))
    for row in late:
        np.add.at(table, (terms_of(docs.tokens), row), share)
    return table


def test_count_table_adds_every_token_that_has_a_topic(docs, counts):
    table, totals, right = np.ones_like(counts.table), np.full(counts.width, 2.0), counted(docs, counts.width)
    for _ in range(2):
        count_table(docs.tokens, docs.topics, table, totals)
        np.testing.assert_array_equal(table, 1 + right[0])
        np.testing.assert_array_equal(totals, 2 + right[1])
        docs.topics[:] = NO_TOPIC


def test_scatter_adds_a_share_for_every_token_and_draw(docs, counts, late):
    table = np.zeros_like(counts.table)
    scatter(docs.tokens, late, 0.25, table)
    np.testing.assert_array_equal(table, shares(docs, late, 0.25, counts.width))


def test_counts_move_to_those_of_the_draws(docs, counts, late):
    before = counts.copy()
    counts.move_to(docs.tokens, late, 0.75, 0.5)
    table = shares(docs, late, 0.5, counts.width)
    np.testing.assert_allclose(counts.table, 0.75 * before.table + table, rtol=1e-6)
    np.testing.assert_allclose(counts.totals, 0.75 * before.totals + table.sum(axis=0))


@pytest.mark.parametrize("prior", [1e-6, 0.1, 1e3])
def test_expected_topics_are_counts_and_prior_over_their_sum(counts, prior):
    counts.prior = prior
    numbers = counts.table[:, :TOPICS].astype(float) + prior
    np.testing.assert_allclose(counts.expected(TOPICS), numbers / numbers.sum(axis=0), rtol=1e-6)


def test_a_prior_that_is_given_stays_and_draws_nothing(counts):
    rng = np.random.default_rng(0)
    counts.draw_prior(TOPICS, None, rng)
    assert counts.prior == 0.1
    assert rng.random() == np.random.default_rng(0).random()
