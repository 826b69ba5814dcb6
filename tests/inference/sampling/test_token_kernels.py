"""The loop that draws topics, and what is around it, against twins that draw from the same streams."""

from copy import deepcopy

import numpy as np
import pytest
from scipy.special import expit
from small import counted, counts_by_document, docs_of, draw, gates, held, some_counts, some_documents, some_state

from diln.engine.lanes import LANES
from diln.engine.threads import Threads
from diln.inference.data import Tokens
from diln.inference.emissions.multinomial_draws import LONGEST
from diln.inference.sampling import documents
from diln.inference.sampling.documents import shard_ranges
from diln.inference.sampling.state import SampledDocuments
from diln.inference.sampling.token_step import draw_tokens
from diln.inference.sampling.tokens import NO_TOPIC, count_topics, pick
from diln.inference.stats import padded
from diln.inference.weights.place_kernels import Places
from diln.prob.streams import key_of

MASK = 2**64 - 1
GOLD = 0x9E3779B97F4A7C15


def mix(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def uniforms(key, name, size):
    """The first numbers of a stream, in 24 bits."""
    start = mix(int(key) ^ mix((int(name) + GOLD) & MASK))
    return np.array([(mix((start + GOLD * (i + 1)) & MASK) >> 40) * 2.0**-24 for i in range(size)])


def lane_order(width):
    """Topics in the order in which a number is looked for: lane by lane."""
    return np.arange(width).reshape(-1, LANES).T.ravel()


def draw_twin(state, docs, key, learning=True, first=0, last=None):
    """Draw as the kernel does, in double precision: topics, counts, histogram, softs and score."""
    tokens, width, order = docs.tokens, state.width, lane_order(state.width)
    topics, table, totals = docs.topics.copy(), state.counts.table.astype(float), state.counts.totals.copy()
    histogram, softs, score = np.zeros((width, LONGEST), np.int64), np.zeros(width), 0.0
    sigma, a0, V = expit(gates(state, docs)), state.weights.a0.astype(np.float32).astype(float), tokens.n_terms
    for m in range(first, len(docs) if last is None else last):
        here = np.arange(tokens.starts[m], tokens.starts[m + 1])
        n = np.bincount(topics[here][topics[here] != NO_TOPIC], minlength=width).astype(float)
        entries = slice(tokens.indptr[m], tokens.indptr[m + 1])
        terms = np.repeat(tokens.indices[entries], tokens.counts[entries])
        for t, w, x in zip(here, terms, uniforms(key, docs.names[m], len(here)), strict=True):
            if topics[t] != NO_TOPIC:
                n[topics[t]] -= 1
                if learning:
                    table[w, topics[t]] -= 1
                    totals[topics[t]] -= 1
            share = (a0 + n) * sigma[m]
            weights = share * (table[w] + state.counts.prior) / (totals + V * state.counts.prior)
            score += np.log(weights.sum() / share.sum())
            sums = np.cumsum(weights[order])
            topics[t] = k = order[np.searchsorted(sums, x * sums[-1], side="right")]
            n[k] += 1
            if learning:
                table[w, k] += 1
                totals[k] += 1
        if len(here):
            softs += np.logaddexp(0, gates(state, docs)[m])
            used = np.flatnonzero(n)
            histogram[used, np.minimum(n[used], LONGEST - 1).astype(int)] += 1
    return topics, table, totals, histogram, softs, score


def assert_draws_as_the_twin(state, docs, key, learning=True, **piece):
    topics, table, totals, histogram, softs, score = draw_twin(state, docs, key, learning, **piece)
    found = draw(state, docs, key, learning, **piece)
    np.testing.assert_array_equal(docs.topics, topics)
    np.testing.assert_array_equal(state.counts.table, table)
    np.testing.assert_array_equal(state.counts.totals, totals)
    np.testing.assert_array_equal(found[0], histogram)
    np.testing.assert_allclose(found[1], softs, rtol=2e-6, atol=1e-36)
    assert found[2] == pytest.approx(score, rel=2e-6)


def problem(seed, n_topics, n_dims=2, spread=1.0, prior=0.1, mean=2.0, **options):
    rng = np.random.default_rng(seed)
    docs = some_documents(rng, some_counts(rng, 12, 15, mean, empty=(3,)), n_topics, n_dims, spread)
    return some_state(rng, docs, n_topics, n_dims, prior, spread, **options), docs


# One token after the other


@pytest.mark.parametrize("n_topics", [1, 2, 3, 15, 16, 17, 40])
@pytest.mark.parametrize("n_dims", [0, 1, 3])
def test_topics_are_those_that_the_twin_draws(n_topics, n_dims):
    assert_draws_as_the_twin(*problem(n_topics, n_topics, n_dims), key_of(1, n_dims))


@pytest.mark.parametrize("learning", [True, False])
def test_tokens_without_a_topic_get_one(learning):
    state, docs = problem(2, 20)
    docs.topics[::3] = NO_TOPIC
    state.counts.table[:] = 0
    known = docs.topics != NO_TOPIC
    terms = np.repeat(docs.tokens.indices, docs.tokens.counts)
    np.add.at(state.counts.table, (terms[known], docs.topics[known]), 1)
    state.counts.totals[:] = state.counts.table.sum(axis=0)
    assert_draws_as_the_twin(state, docs, key_of(2), learning)


@pytest.mark.parametrize("prior", [1e-6, 1e-2, 10.0, 1e4])
@pytest.mark.parametrize("weight", [1e-20, 1e-6, 1.0, 1e6])
def test_topics_are_the_twins_at_tiny_and_huge_priors_and_weights(prior, weight):
    """Weights of one size, and weights that differ by ten orders."""
    rng = np.random.default_rng(3)
    for a0 in (np.full(20, weight), weight * 10.0 ** rng.uniform(-5, 5, 20)):
        assert_draws_as_the_twin(*problem(3, 20, prior=prior, a0=np.maximum(a0, 1e-20)), key_of(3))


@pytest.mark.parametrize("spread", [0.0, 1e-4, 5.0, 15.0])
def test_topics_are_the_twins_for_documents_near_and_far(spread):
    assert_draws_as_the_twin(*problem(4, 20, spread=spread), key_of(4))


def test_topics_are_the_twins_where_a_topic_holds_millions_of_tokens():
    state, docs = problem(5, 20)
    more = np.random.default_rng(5).integers(10**6, size=(docs.tokens.n_terms, 5))
    state.counts.table[:, :5] += more
    state.counts.totals[:5] += more.sum(axis=0)
    assert_draws_as_the_twin(state, docs, key_of(5))


def test_given_counts_stay_as_they_are():
    state, docs = problem(6, 20)
    before, topics = deepcopy(state), docs.topics.copy()
    assert_draws_as_the_twin(state, docs, key_of(6), learning=False)
    np.testing.assert_array_equal(state.counts.table, before.counts.table)
    np.testing.assert_array_equal(state.counts.totals, before.counts.totals)
    assert (docs.topics != topics).any()


def test_only_documents_of_the_piece_are_drawn():
    state, docs = problem(7, 20)
    topics, starts = docs.topics.copy(), docs.tokens.starts
    assert_draws_as_the_twin(state, docs, key_of(7), first=2, last=9)
    np.testing.assert_array_equal(docs.topics[: starts[2]], topics[: starts[2]])
    np.testing.assert_array_equal(docs.topics[starts[9] :], topics[starts[9] :])


def test_counts_follow_the_topics_sweep_after_sweep():
    state, docs = problem(8, 20)
    for number in range(50):
        histogram, _, _ = draw(state, docs, key_of(8, number))
        table, totals = counted(docs, state.width)
        np.testing.assert_array_equal(state.counts.table, table)
        np.testing.assert_array_equal(state.counts.totals, totals)
        n = counts_by_document(docs, state.width)
        right = [np.bincount(row[row > 0].astype(int), minlength=LONGEST) for row in n.T]
        np.testing.assert_array_equal(histogram, right)


def test_long_documents_are_counted_in_the_last_column():
    state, docs = problem(9, 3)
    histogram, _, _ = draw(state, docs, key_of(9), columns=4)
    n = counts_by_document(docs, state.width)
    right = [np.bincount(np.minimum(row[row > 0], 3).astype(int), minlength=4) for row in n.T]
    np.testing.assert_array_equal(histogram, right)


def test_the_score_of_many_tokens_does_not_run_out_of_numbers():
    """Probabilities of a token near 1e-4: their product would, after some 80 of them."""
    rng = np.random.default_rng(10)
    counts = np.zeros((2, 10_000), int)
    counts[0, rng.choice(10_000, 2_000, replace=False)] = 1
    counts[1, 5] = 3_000
    docs = some_documents(rng, counts, 3)
    state = some_state(rng, docs, 3, prior=100.0)
    topics, _, _, _, _, score = draw_twin(state, docs, key_of(10))
    assert draw(state, docs, key_of(10))[2] == pytest.approx(score, rel=1e-5)
    assert np.isfinite(score)
    assert (docs.topics == topics).mean() > 0.99  # of 5,000 tokens one may fall on an edge


# Picking


@pytest.mark.parametrize("width", [16, 32, 160])
def test_pick_finds_the_place_of_a_number_among_running_sums(width):
    rng = np.random.default_rng(11)
    order = lane_order(width)
    for _ in range(200):
        weights = rng.integers(0, 5, width)  # whole numbers, whose sums are exact
        sums = np.cumsum(weights.reshape(-1, LANES), axis=0).ravel().astype(np.float32)
        edges = np.cumsum(weights[order])
        for x in rng.integers(edges[-1], size=10) if edges[-1] else ():
            k = pick(sums, np.float32(x))
            assert k == order[np.searchsorted(edges, x, side="right")]
            assert weights[k] > 0


@pytest.mark.parametrize("n_topics", [1, 3, 20, 100])
def test_no_number_falls_on_a_topic_that_is_not_there(n_topics):
    """The numbers next to 1, which roundings push beyond the last sum in one of a few cases."""
    rng = np.random.default_rng(12)
    weights = np.zeros((2_000, padded(n_topics)), np.float32)
    weights[:, :n_topics] = rng.gamma(0.5, size=(2_000, n_topics))
    sums = np.cumsum(weights.reshape(2_000, -1, LANES), axis=1).reshape(2_000, -1)
    for row in sums:
        lanes, total, other = row[-LANES:], np.float32(0), row[-LANES:].sum(dtype=np.float32)
        for lane in lanes:
            total += lane
        for x in (1, 2, 3, 4):
            below = np.float32(1 - x * 2.0**-24)
            assert pick(row, below * total) < n_topics
            assert pick(row, below * other) < n_topics


# What is around it


def test_count_topics_counts_those_in_range_that_have_one():
    topics = np.array([0, 3, 3, NO_TOPIC, 15, 3, 1], np.uint16)
    n = np.full(16, np.nan, np.float32)
    for first, last in ((0, 7), (1, 4), (3, 4), (2, 2)):
        count_topics(topics, first, last, n)
        here = topics[first:last]
        np.testing.assert_array_equal(n, np.bincount(here[here != NO_TOPIC], minlength=16))


# Shards and threads


def ranges_of(docs, at_once=1000):
    """Shards of documents whose lengths come some at a time."""
    lengths = np.diff(docs.tokens.starts)
    return shard_ranges(lambda: (lengths[first : first + at_once] for first in range(0, len(lengths), at_once)))


@pytest.mark.parametrize("size", [1, 10, 60, 10_000])
@pytest.mark.parametrize("most", [1, 3, 16])
@pytest.mark.parametrize("at_once", [1, 7, 1000])
def test_shards_cover_every_document_once(size, most, at_once, monkeypatch):
    monkeypatch.setattr(documents, "SHARD", size)
    monkeypatch.setattr(documents, "MANY", most)
    rng = np.random.default_rng(16)
    for n_docs, empty in ((1, ()), (2, (0,)), (12, (0, 3, 11)), (40, range(30)), (5, range(5))):
        docs = some_documents(rng, some_counts(rng, n_docs, 15, empty=empty), 3)
        ranges = ranges_of(docs, at_once)
        np.testing.assert_array_equal(np.concatenate([np.arange(*one[:2]) for one in ranges]), np.arange(n_docs))
        starts = docs.tokens.starts
        assert [one.n_tokens for one in ranges] == [starts[last] - starts[first] for first, last, _ in ranges]
        assert len(ranges) <= max(4, most) if docs.tokens.size >= 2 * size else len(ranges) == 1


def test_shards_hold_about_as_many_tokens_each(monkeypatch):
    monkeypatch.setattr(documents, "SHARD", 50)
    rng = np.random.default_rng(17)
    docs = some_documents(rng, some_counts(rng, 100, 15), 3)
    longest, ranges = np.diff(docs.tokens.starts).max(), ranges_of(docs)
    assert len(ranges) == 16
    assert max(one.n_tokens for one in ranges) <= docs.tokens.size / 16 + longest


@pytest.mark.parametrize(
    ("n_tokens", "number"),
    [(0, 1), (499_999, 1), (500_000, 4), (1_500_000, 8), (14_869_832, 16), (10**8, 100), (10**10, 10_000)],
)
def test_there_are_more_shards_the_more_tokens_and_none_is_large(n_tokens, number):
    assert documents.shard_count(n_tokens) == number
    assert n_tokens / number <= documents.LARGEST


def test_documents_in_play_are_as_large_a_part_of_every_shard_and_never_fewer_than_before():
    for n_docs, shards in ((100, (40, 60)), (7, (1, 2, 4)), (50_000, (49_999, 1))):
        before = [0] * len(shards)
        for size in range(0, n_docs + 1, max(1, n_docs // 50)):
            now = [documents.Share(size, n_docs).of(one) for one in shards]
            assert all(old <= new <= one for old, new, one in zip(before, now, shards, strict=True))
            assert size <= sum(now) < size + len(shards)
            before = now
        assert [documents.Share(n_docs, n_docs).of(one) for one in shards] == list(shards)


def many_documents(n_topics=20, n_dims=2):
    rng = np.random.default_rng(18)
    docs = some_documents(rng, some_counts(rng, 150, 15, empty=(0, 40, 149)), n_topics, n_dims)
    return some_state(rng, docs, n_topics, n_dims), docs


def test_one_shard_is_one_call():
    state, docs = many_documents()
    twin, others = deepcopy((state, docs))
    with Threads(1) as threads:
        sums = draw_tokens(state, held(docs, threads), key_of(19))
    histogram, softs, score = draw(twin, others, key_of(19))
    np.testing.assert_array_equal(docs.topics, others.topics)
    np.testing.assert_array_equal(state.counts.table, twin.counts.table)
    width = sums.histogram.shape[1]
    np.testing.assert_array_equal(sums.histogram, histogram[:, :width])
    assert histogram[:, width:].sum() == 0
    np.testing.assert_array_equal(sums.softs, softs)
    assert sums.score == score


def test_shards_know_each_other_as_they_were_before_the_sweep(monkeypatch):
    monkeypatch.setattr(documents, "SHARD", 100)
    state, docs = many_documents()
    before, old = deepcopy((state, docs))
    with Threads(1) as threads:
        sums = draw_tokens(state, held(docs, threads), key_of(20))
    ranges = ranges_of(docs)
    assert len(ranges) == 16
    total = np.zeros((state.width, LONGEST), np.int64)
    scores = []
    for first, last, _ in ranges:
        mine, others = deepcopy((before, old))
        histogram, _, score = draw(mine, others, key_of(20), first=first, last=last)
        here = slice(docs.tokens.starts[first], docs.tokens.starts[last])
        np.testing.assert_array_equal(docs.topics[here], others.topics[here])
        total += histogram
        scores.append(score)
    table, totals = counted(docs, state.width)
    np.testing.assert_array_equal(state.counts.table, table)
    np.testing.assert_array_equal(state.counts.totals, totals)
    np.testing.assert_array_equal(sums.histogram, total[:, : sums.histogram.shape[1]])
    assert sums.score == pytest.approx(sum(scores), rel=1e-12)
    np.testing.assert_allclose(
        sums.softs, np.logaddexp(0, gates(state, docs))[np.diff(docs.tokens.starts) > 0].sum(axis=0), rtol=1e-6
    )


def test_threads_change_no_bit_of_the_topics(monkeypatch):
    monkeypatch.setattr(documents, "SHARD", 100)
    found = []
    for n_jobs in (1, 2, 4):
        state, docs = many_documents()
        with Threads(n_jobs) as threads:
            sums = [draw_tokens(state, held(docs, threads), key_of(21, number)) for number in range(5)]
        found.append([docs.topics, state.counts.table, state.counts.totals, *(part for one in sums for part in
                     (one.histogram, one.softs, one.score))])  # fmt: skip
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_a_document_draws_from_its_own_stream():
    """Given the corpus' counts, its topics are the same wherever it stands and whoever stands beside it."""
    state, docs = problem(22, 20)
    turned = np.arange(len(docs))[::-1]
    counts = np.zeros((len(docs), docs.tokens.n_terms), int)
    np.add.at(counts, (docs_of(docs.tokens), np.repeat(docs.tokens.indices, docs.tokens.counts)), 1)
    places = Places(docs.places.u[turned], docs.places.s[turned])
    other = SampledDocuments.new(Tokens.of(counts[turned]), places, docs.names[turned])
    docs.topics[:] = NO_TOPIC
    draw(state, docs, key_of(22), learning=False)
    draw(state, other, key_of(22), learning=False)
    for m, place in enumerate(turned):
        one, two = docs.tokens.starts[place : place + 2], other.tokens.starts[m : m + 2]
        np.testing.assert_array_equal(docs.topics[slice(*one)], other.topics[slice(*two)])
