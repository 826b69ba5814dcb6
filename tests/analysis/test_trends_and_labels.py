"""Trends of few documents, and trends that are of sources: when they are told, and what holds labels constant."""

import tracemalloc

import newsroom
import numpy as np
import pytest
from scipy.sparse import csr_array

from diln import Corpus
from diln.analysis import Atlas, trends_standard
from diln.analysis.labels import labels_of
from diln.analysis.selection import Columns
from diln.analysis.trends import label_trends, trends
from diln.analysis.trends_mix import mix_of, tabulated

MONTHS = 12


def columns(shares, tokens=None):
    shares = np.asarray(shares, float).reshape(len(shares), -1)
    x = np.full(len(shares), 10.0) if tokens is None else np.asarray(tokens, float)
    named = [(at, f"t{at}") for at in range(shares.shape[1])]
    return Columns(csr_array(shares * x[:, np.newaxis]), x, named, np.zeros(shares.shape[1]))


def months(codes):
    return (np.datetime64("2020-01") + np.asarray(codes)).astype("datetime64[s]")


def planted(rng, n_docs=2400, first=(0.8, 0.1, 0.1), last=(0.1, 0.1, 0.8), means=(0.6, 0.3, 0.1)):
    """Shares that are constant within each of three labels, while the mix of labels goes from one to another."""
    month = np.sort(rng.integers(0, MONTHS, n_docs))
    way = (month / (MONTHS - 1))[:, np.newaxis]
    mix = (1 - way) * np.array(first) + way * np.array(last)
    label = (rng.random(n_docs)[:, np.newaxis] > np.cumsum(mix, axis=1)).sum(axis=1)
    share = rng.beta(4 * np.array(means)[label], 4 * (1 - np.array(means)[label]))
    tokens = rng.integers(50, 400, n_docs) * np.array([3, 1, 1])[label]  # one has longer documents
    return columns(share, tokens), months(month), labels_of(["daily", "weekly", "wire"], label), label


def test_a_change_of_sources_is_warned_of_and_gone_with_labels_held_constant():
    shown, times, labels, _ = planted(np.random.default_rng(0))
    plain = trends(shown, times, "theme", "month", labels=labels)
    values = np.array(plain.series[0].values)
    assert values[0] - values[-1] > 0.25, "the plain trend falls"
    assert plain.mix is not None
    assert plain.mix.period in ("2020-01", "2020-12")
    assert plain.mix.distance > 0.3 > 0.1 > plain.mix.by_chance
    assert plain.mix.label in ("daily", "wire")
    for part in (plain.mix.period, plain.mix.label, f"of {plain.mix.n_docs} documents", "of sources"):
        assert part in plain.warning
    held = trends(shown, times, "theme", "month", labels=labels, standardise=True)
    series = held.series[0]
    assert held.mix is None
    assert held.covered == pytest.approx([1.0] * MONTHS)
    overall = shown.tokens.sum() / shown.whole.sum()
    inside = [low <= overall <= high for low, high in zip(series.low, series.high, strict=True)]
    assert sum(inside) >= MONTHS - 1, "flat, but for one in twenty"
    assert np.ptp(series.values) < 0.12
    slope = np.polyfit(range(MONTHS), series.values, 1)[0] * MONTHS
    assert abs(slope) < 0.05 < 0.25 < -np.polyfit(range(MONTHS), values, 1)[0] * MONTHS


def test_trends_of_each_label_alone_are_flat():
    shown, times, labels, label = planted(np.random.default_rng(1))
    found = label_trends(shown, times, "theme", labels, "month")
    assert sorted(found.labels) == ["daily", "weekly", "wire"]
    assert found.periods == trends(shown, times, "theme", "month").periods
    for name, one in zip(found.labels, found.trends, strict=True):
        place = ["daily", "weekly", "wire"].index(name)
        assert one.mix is None
        assert sum(one.n_docs) == (label == place).sum()
        known = [value for value in one.series[0].values if value is not None]
        assert len(known) >= MONTHS - 2
        mean = (0.6, 0.3, 0.1)[place]
        miss = [not low <= mean <= high for low, high in zip(one.series[0].low, one.series[0].high, strict=True)
                if low is not None]  # fmt: skip
        assert sum(miss) <= 2
    assert len(found.to_frame()) == 3 * MONTHS
    assert {"within", "period", "theme", "share", "n_docs"} <= set(found.rows()[0])


def test_labels_of_few_documents_have_no_trends_of_their_own():
    labels = labels_of([*"abc"], np.repeat([0, 1, 2], [40, 12, 5]))
    times = months(np.r_[np.tile([0, 1], 20), np.tile([0, 1], 6), np.zeros(5, int)])
    found = label_trends(columns(np.full(57, 0.2)), times, "topic", labels, "month")
    assert (found.labels, found.n_labels, len(found.trends)) == (("a",), 3, 1)
    assert label_trends(columns(np.full(57, 0.2)), times, "topic", labels, "month", 5).labels == ("a", "b", "c")
    with pytest.raises(ValueError, match="no label has 30 documents in a period, the most is 20; choose longer"):
        label_trends(columns(np.full(57, 0.2)), times, "topic", labels, "month", 30)


def test_a_period_of_one_document_has_no_share_and_is_nowhere_the_most():
    share = np.r_[np.full(40, 0.1), 0.9, np.linspace(0.1, 0.2, 40)]
    found = trends(columns(share), months(np.repeat([0, 1, 2], [40, 1, 40])), "topic", "month")
    series = found.series[0]
    assert found.n_docs == (40, 1, 40)
    assert series.values[1] is series.low[1] is series.high[1] is None
    assert series.ends == (0, 2)
    assert found.notes == ("No share where there are fewer than 10 documents: 2020-02 (1).",)
    every = trends(columns(share), months(np.repeat([0, 1, 2], [40, 1, 40])), "topic", "month", 1)
    assert every.series[0].ends == (0, 1)
    assert every.notes == ()
    page = found._repr_html_()
    assert "90%" not in page
    assert page.count("<rect") == 3 + 2, "bars of the documents, and of the periods with a share"


def test_a_period_has_a_share_from_the_least_number_of_documents_on():
    times = months(np.repeat([0, 1, 2], [9, 10, 11]))
    found = trends(columns(np.full(30, 0.2)), times, "topic", "month")
    assert [value is not None for value in found.series[0].values] == [False, True, True]
    with pytest.raises(ValueError, match=r"no period has 12 documents, the most is 11; .* smaller --min-documents"):
        trends(columns(np.full(30, 0.2)), times, "topic", "month", 12)
    with pytest.raises(ValueError, match="min_documents is 0"):
        trends(columns(np.full(30, 0.2)), times, "topic", "month", 0)


@pytest.mark.parametrize("sizes", [(400, 300, 300), (500, 5, 5, 5, 485), (5,) * 200, (900, 60, 40)])
def test_labels_that_have_nothing_to_do_with_time_are_rarely_warned_of(sizes):
    rng, warned = np.random.default_rng(3), 0
    label = np.repeat(np.arange(len(sizes)), sizes)
    names = tuple(map(str, range(len(sizes))))
    month = np.repeat(np.arange(20), np.linspace(10, 90, 20).astype(int))
    month = np.r_[month, np.full(len(label) - len(month), 19)]
    for _ in range(200):
        rng.shuffle(label)
        within = labels_of(names, label).within
        counts, _ = tabulated(within, names, month, 20)
        assert counts.sum() == len(label)
        warned += mix_of(names, counts, np.ones(20, bool), names[:0] + tuple(map(str, range(20)))) is not None
    assert warned <= 12, "about one in twenty at most"


def test_many_small_labels_are_counted_as_one():
    label, month = np.r_[np.repeat([0, 1], 300), np.arange(2, 102)], np.r_[np.tile([0, 1], 350)]
    labels = labels_of([f"l{at}" for at in range(102)], label)
    every, names = tabulated(labels.within, labels.names, month, 2)
    assert (every.shape, names) == ((102, 2), tuple(labels.names))
    some, names = tabulated(labels.within, labels.names, month, 2, most=10)
    assert names == (*labels.names[:4], "98 small labels")
    assert some[:4].tolist() == every[:4].tolist()
    assert some[4].tolist() == every[4:].sum(axis=0).tolist()


def test_a_label_for_each_document_takes_neither_memory_nor_time():
    n_docs = 60_000
    labels = labels_of([f"l{at}" for at in range(n_docs)], np.arange(n_docs))
    days = (np.datetime64("2010-01-01") + np.arange(n_docs) % 3000).astype("datetime64[s]")
    shown = columns(np.random.default_rng(8).random((n_docs, 20)))
    tracemalloc.start()
    assert trends(shown, days, "topic", "day", labels=labels).mix is None
    with pytest.raises(ValueError, match="cannot be held constant"):
        trends(shown, days, "topic", "day", labels=labels, standardise=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e9


def test_standardised_shares_are_the_same_for_labels_a_few_at_a_time(monkeypatch):
    shown, times, labels, _ = planted(np.random.default_rng(9), 600)
    whole = trends(shown, times, "theme", "month", labels=labels, standardise=True)
    monkeypatch.setattr(trends_standard, "AT_ONCE", 1)
    assert trends(shown, times, "theme", "month", labels=labels, standardise=True) == whole


def test_a_slow_change_of_sources_is_warned_of():
    rng, n_periods = np.random.default_rng(4), 40
    month = np.repeat(np.arange(n_periods), 50)
    first = rng.random(len(month)) < 0.8 - 0.6 * month / (n_periods - 1)
    labels = labels_of(["old", "new"], np.where(first, 0, 1))
    found = trends(columns(np.full(len(month), 0.1)), months(month), "topic", "month", labels=labels)
    assert found.mix is not None
    assert found.periods.index(found.mix.period) in (*range(6), *range(34, 40))


def test_a_small_change_of_sources_is_no_warning_however_sure():
    month = np.repeat([0, 1], 50_000)
    first = np.random.default_rng(5).random(len(month)) < np.where(month == 0, 0.52, 0.48)
    labels = labels_of(["a", "b"], np.where(first, 0, 1))
    assert trends(columns(np.full(len(month), 0.1)), months(month), "topic", "month", labels=labels).mix is None


def test_where_the_mix_is_the_same_the_standardised_share_is_the_plain_one():
    rng = np.random.default_rng(6)
    label, month = np.tile([0, 0, 1, 2], 60), np.repeat([0, 1, 2], 80)
    shown = columns(rng.random((240, 2)), np.tile([10, 20, 40, 30], 60))
    labels = labels_of([*"abc"], label)
    plain = trends(shown, months(month), "topic", "month", labels=labels)
    held = trends(shown, months(month), "topic", "month", labels=labels, standardise=True)
    for one, other in zip(plain.series, held.series, strict=True):
        assert one.values == pytest.approx(other.values, rel=1e-12)
        assert all(low < value < high for low, value, high in zip(other.low, other.values, other.high, strict=True))
    alone = columns(rng.random((30, 2)), rng.integers(1, 90, 30))
    labels = labels_of([*"abc"], rng.integers(0, 3, 30))
    one, other = (trends(alone, months([0] * 30), "topic", "month", 1, labels, standardise=way).series[0]
                  for way in (False, True))  # fmt: skip
    assert one.values == pytest.approx(other.values, rel=1e-12)


def test_bands_of_standardised_shares_hold_them_in_19_of_20_cases():
    inside = []
    means, first, last = (0.6, 0.3, 0.1), (0.6, 0.3, 0.1), (0.2, 0.3, 0.5)
    for seed in range(60):
        shown, times, labels, label = planted(np.random.default_rng(seed), 1200, first, last, means)
        series = trends(shown, times, "theme", "month", labels=labels, standardise=True).series[0]
        weights = np.bincount(label, weights=shown.whole) / shown.whole.sum()
        truth = float(weights @ means)
        inside += [low <= truth <= high for low, high in zip(series.low, series.high, strict=True) if low is not None]
    assert 0.92 <= np.mean(inside) <= 0.995


def test_a_period_that_lacks_a_large_label_is_left_out_and_one_that_lacks_a_small_one_is_marked():
    label = np.r_[np.tile([0, 1], 50), np.zeros(50, int), np.tile([0, 0, 1, 1, 1, 2], 10)]
    month = np.repeat([0, 1, 2], [100, 50, 60])
    labels = labels_of(["a", "b", "c"], label)
    found = trends(columns(np.array([0.2, 0.6, 0.9])[label]), months(month), "topic", "month", labels=labels,
                   standardise=True)  # fmt: skip
    words = np.bincount(label) / len(label)
    assert found.covered == pytest.approx((words[0] + words[1], words[0], 1))
    series = found.series[0]
    assert series.values[1] is None
    assert series.values[0] == pytest.approx((words[0] * 0.2 + words[1] * 0.6) / (words[0] + words[1]))
    assert series.values[2] == pytest.approx(words @ [0.2, 0.6, 0.9])
    assert "less than nine tenths of all words: 2020-02 (57%)" in found.notes[0]
    assert "count more where others are missing: 2020-01 (95%)" in found.notes[1]
    with pytest.raises(ValueError, match="their mix cannot be held constant; choose longer periods"):
        trends(columns(np.full(40, 0.2)), months([0] * 20 + [1] * 20), "topic", "month", 1,
               labels_of([*"ab"], np.repeat([0, 1], 20)), standardise=True)  # fmt: skip


def test_a_large_label_with_one_document_in_a_period_is_too_little():
    label, month = np.r_[np.tile([0, 1], 60), np.zeros(30, int), 1], np.repeat([0, 1], [120, 31])
    labels = labels_of(["a", "b"], label)
    found = trends(columns(np.linspace(0.1, 0.3, 151)), months(month), "topic", "month", labels=labels,
                   standardise=True)  # fmt: skip
    assert found.n_docs == (120, 31)
    assert [value is None for value in found.series[0].values] == [False, True]
    assert "for each label's weight: 2020-02 (31)" in found.notes[0]


def test_documents_with_several_labels_count_for_each_in_part_and_those_without_are_left_out():
    rng = np.random.default_rng(7)
    texts, codes = ["a; b", "a", "b", "c"], rng.integers(-1, 4, 600)
    labels = labels_of(texts, codes, ";")
    month = np.repeat([0, 1], 300)
    shown = columns(rng.random(600), rng.integers(5, 50, 600))
    held = trends(shown, months(month), "topic", "month", labels=labels, standardise=True)
    assert held.n_unlabelled == (codes < 0).sum()
    assert sum(held.n_docs) == (codes >= 0).sum()
    assert held.covered == pytest.approx((1, 1))
    assert sum(trends(shown, months(month), "topic", "month", labels=labels).n_docs) == 600


def test_a_model_of_a_newspaper_is_told_and_held_constant():
    one = newsroom.atlas()
    law = one.word("judge")[0].topic
    plain, held = (one.trends("topic", "quarter", [law], standardise=way) for way in (False, True))
    assert plain.mix is not None
    assert {plain.mix.label} <= {"law", "space"}
    shown, constant = plain.series[0].values, held.series[0].values
    assert shown[1] - shown[-1] > 0.15
    assert constant[0] is None, "a quarter without documents on space"
    assert "less than nine tenths of all words: 2020-Q1" in held.notes[0]
    assert abs(constant[1] - constant[-1]) < 0.05
    within = one.trends_by_label("topic", "quarter", [law], min_documents=5)
    alone = dict(zip(within.labels, within.trends, strict=True))["law"].series[0].values
    assert alone[3] is None, "two documents"
    assert min(alone[:3]) > 3 * shown[2]
    assert one.trends("topic", "quarter", [law], label="law", min_documents=5).series[0].values[:3] == alone[:3]
    with pytest.raises(ValueError, match="one label has no mix"):
        one.trends(label="law", standardise=True)


def test_without_labels_there_is_no_mix():
    texts = ["judge court trial goal"] * 24
    bare = Atlas(newsroom.editor(), Corpus.from_texts(texts, dates=["2020"] * 24, min_df=1, max_df=1.0))
    assert bare.trends(ids=[0]).mix is None
    for ask in (lambda: bare.trends(standardise=True), bare.trends_by_label):
        with pytest.raises(ValueError, match="no document has a label"):
            ask()
