"""Topics and themes over time and by label."""

import numpy as np
import pytest
from newsroom import SECTIONS, atlas, editor, paper
from scipy.sparse import csr_array

from diln import Corpus
from diln.analysis import Atlas
from diln.analysis.groups import groups
from diln.analysis.labels import labels_of
from diln.analysis.selection import Columns
from diln.analysis.trends import trends
from diln.analysis.trends_periods import period_name, period_numbers


def columns(shares, tokens=None):
    shares = np.asarray(shares, float).reshape(len(shares), -1)
    x = np.full(len(shares), 10.0) if tokens is None else np.asarray(tokens, float)
    named = [(at, f"t{at}") for at in range(shares.shape[1])]
    return Columns(csr_array(shares * x[:, np.newaxis]), x, named, np.zeros(shares.shape[1]))


def times(*dates):
    return np.array([date or "NaT" for date in dates], "datetime64[s]")


def test_a_share_is_of_tokens_so_long_documents_count_more():
    found = trends(columns([0.5, 0.1], [300, 100]), times("2020-01-02", "2020-01-30"), "topic", "month", 1)
    assert found.periods == ("2020-01",)
    assert found.series[0].values[0] == pytest.approx((150 + 10) / 400)
    assert found.series[0].low[0] < 0.4 < found.series[0].high[0]


def test_periods_without_documents_are_gaps():
    dates = times("2020-01-02", "2020-04-30", "2020-04-01")
    found = trends(columns([0.5, 0.1, 0.2]), dates, "topic", "month", 1)
    assert found.periods == ("2020-01", "2020-02", "2020-03", "2020-04")
    assert found.n_docs == (1, 0, 0, 2)
    assert found.series[0].values[1:3] == (None, None)
    assert found.series[0].low[0] is None, "one document says nothing of others"
    assert found.series[0].low[3] is not None


def test_documents_without_dates_or_tokens_are_left_out_and_counted():
    found = trends(columns([0.5, 0.1, 0.2], [10, 10, 0]), times("2020", "", "2021"), "topic", "year", 1)
    assert (found.n_docs, found.n_undated) == ((1,), 1)
    with pytest.raises(ValueError, match="none of these documents has a date"):
        trends(columns([0.5]), times(""), "topic")


@pytest.mark.parametrize(
    ("granularity", "date", "name"),
    [
        ("year", "1969-12-31", "1969"), ("quarter", "2017-05-01", "2017-Q2"), ("quarter", "1969-01-01", "1969-Q1"),
        ("month", "2017-02-28", "2017-02"), ("week", "2017-01-01", "2016-W52"), ("week", "2017-01-02", "2017-W01"),
        ("week", "1969-12-29", "1970-W01"), ("day", "2017-02-13T23:59:59", "2017-02-13"),
    ],
)  # fmt: skip
def test_periods_have_the_names_that_people_use(granularity, date, name):
    assert period_name(int(period_numbers(times(date), granularity)[0]), granularity) == name


def test_auto_takes_the_shortest_periods_with_enough_documents():
    def chosen(n_docs, n_days):
        days = np.datetime64("2015-01-01") + np.arange(n_docs) * n_days // n_docs
        return trends(columns(np.full(n_docs, 0.1)), days.astype("datetime64[s]"), "topic", min_documents=1).granularity

    assert chosen(3000, 50) == "day"
    assert chosen(300, 50) == "week"
    assert chosen(3000, 300) == "week"
    assert chosen(3000, 1500) == "month"
    assert chosen(3000, 3650) == "quarter"
    assert chosen(3000, 9000) == "year"
    assert chosen(5, 30) == "week", "few documents: the longest that shows more than one"
    assert chosen(5, 1) == "day"


def test_auto_takes_years_where_dates_are_years():
    years = np.repeat(np.arange("2001", "2011", dtype="datetime64[Y]"), 300).astype("datetime64[s]")
    assert trends(columns(np.full(3000, 0.1)), years, "topic").granularity == "year"


def test_too_many_periods_are_refused():
    with pytest.raises(ValueError, match="choose a longer granularity"):
        trends(columns([0.5, 0.1]), times("1900", "2020"), "topic", "day")
    with pytest.raises(ValueError, match="granularity is 'hour'"):
        trends(columns([0.5, 0.1]), times("1900", "2020"), "topic", "hour")


def test_what_there_is_more_of_rises_and_themes_sum_to_their_topics():
    one = atlas()
    law = one.word("judge")[0].topic
    found = one.trends(ids=[law], granularity="quarter").series[0]
    assert found.values[0] > found.high[-1] >= found.values[-1]
    themes, topics = one.trends("theme", "quarter"), one.trends("topic", "quarter")
    sums = [np.sum([series.values for series in found.series], axis=0) for found in (themes, topics)]
    assert np.allclose(*sums)
    assert np.allclose(sums[0], 1, atol=0.01), "shares too small to be kept of a document count as in the whole corpus"
    assert one.trends(ids=[law], label="space", granularity="year").series[0].values[0] < 0.1
    with pytest.raises(ValueError, match="there is no label 'nothing'; there is 'law', 'money', 'space', 'sport'"):
        one.trends(label="nothing")


def test_trends_of_all_documents_are_the_topics_of_all_documents():
    one = atlas()
    found = one.trends(granularity="year")
    totals = one.index.topic_totals() / one.index.tokens.sum()
    for series in found.series:
        assert series.values[0] == pytest.approx(totals[series.id], abs=1e-4)


def test_labels_are_found_to_have_what_they_are_about():
    one = atlas()
    found = one.groups()
    assert sorted(label.name for label in found.labels) == sorted(SECTIONS)
    assert sum(label.n_docs for label in found.labels) == len(paper())
    for section, word in (("law", "judge"), ("sport", "coach"), ("money", "bank"), ("space", "moon")):
        topic = one.word(word)[0].topic
        cell = next(cell for cell in found.cells if cell.id == topic and cell.label_name == section)
        assert cell.sure
        assert 1 < cell.low < cell.lift < cell.high
        assert cell.p < 1e-3
        others = [cell for cell in found.cells if cell.id == topic and cell.label_name != section]
        assert all(cell.lift < 1 for cell in others)
    themes = one.groups("theme")
    assert sum(cell.share for cell in themes.cells if cell.label_name == "law") == pytest.approx(1, abs=1e-3)


def test_shuffled_labels_are_not_sure_of_anything():
    one, rng = atlas(), np.random.default_rng(0)
    whole = one._chosen.topic_columns(None)
    codes, wrong, missed = one.index.label_codes.copy(), 0, []
    for _ in range(60):
        rng.shuffle(codes)
        found = groups(whole, labels_of(one.index.label_names, codes), "topic")
        missed += [not cell.low <= 1 <= cell.high for cell in found.cells]
        wrong += any(cell.sure for cell in found.cells)
        assert not any(cell.sure and cell.low <= 1 <= cell.high for cell in found.cells)
    assert wrong <= 8, "about one in twenty"
    assert np.mean(missed) < 0.06, "intervals leave out 1 in one of twenty"


def test_a_few_long_documents_make_no_difference_that_is_sure():
    rng, wrong, missed = np.random.default_rng(1), 0, []
    tokens, shares = np.full(400, 50.0), rng.dirichlet(np.full(30, 0.03), 400)
    tokens[:8] = 5000
    codes = np.repeat(np.arange(8), 50)
    for _ in range(60):
        found = groups(columns(shares, tokens), labels_of([*"abcdefgh"], rng.permutation(codes)), "topic")
        missed += [not cell.low <= 1 <= cell.high for cell in found.cells]
        wrong += any(cell.sure for cell in found.cells)
    assert wrong <= 8, "about one in twenty"
    assert np.mean(missed) < 0.06


def test_a_document_can_have_several_labels():
    names, within = labels_of(["a; b", "b", "c;", ""], np.array([0, 1, 2, -1, 0, 3]), ";")
    assert names == ["b", "a", "c"]
    assert within.toarray().tolist() == [[1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0]]


def test_what_separates_labels_is_found_out_where_it_makes_them_fewer():
    pairs = [f"{first}, {second}" for first in "abcd" for second in "efgh"]
    names = labels_of(pairs, np.arange(16), "auto").names
    assert sorted(names) == list("abcdefgh")
    people = ["Smith, Ann", "Jones, Bob", "Brown, Cid", "north"]
    assert labels_of(people, np.arange(4), "auto").names == people
    assert labels_of(["north", "south; east"], np.zeros(50, int), "auto").names == ["north", "south; east"]
    assert labels_of(pairs, np.arange(16), None).names == pairs


def test_documents_with_several_labels_are_found_by_each_and_by_all():
    labels = [f"{first}; {second}" for first in "abcd" for second in "efgh"] * 3
    corpus = Corpus.from_texts(["judge court trial goal"] * 48, labels=labels, min_df=1, max_df=1.0)
    one = Atlas(editor(), corpus)
    assert sorted(one.labels()) == list("abcdefgh")
    assert one.documents(label="a").total == 12
    assert one.documents(label="a; e").total == 3
    assert len(one.groups(ids=[0]).labels) == 8
    assert len(one.groups(ids=[0], separator=None).labels) == 16
    with pytest.raises(ValueError, match="separator is 3"):
        one.groups(separator=3)


def test_a_label_that_no_topic_is_in_has_a_lift_of_zero_with_a_range():
    shares = np.r_[np.zeros(10), np.full(40, 0.3)]
    labels = labels_of(["none", "some"], np.repeat([0, 1], [10, 40]))
    cells = groups(columns(shares), labels, "topic").cells
    none = next(cell for cell in cells if cell.label_name == "none")
    assert (none.share, none.lift, none.low) == (0, 0, 0)
    assert 0 < none.high < 1
    assert none.sure
    some = next(cell for cell in cells if cell.label_name == "some")
    assert some.lift == np.inf
    assert some.to_json()["lift"] is None


def test_one_label_or_none_is_no_difference():
    cell = groups(columns(np.linspace(0, 1, 20)), labels_of(["all"], np.zeros(20, int)), "topic").cells[0]
    assert (cell.lift, cell.sure, cell.p) == (1, False, 1)
    bare = Atlas(editor(), Corpus.from_texts(["judge court trial goal"] * 5, min_df=1, max_df=1.0))
    with pytest.raises(ValueError, match="no document has a label"):
        bare.groups()
    with pytest.raises(ValueError, match="none of these documents has a date"):
        bare.trends()


def test_frames_have_a_row_for_each_period_and_label():
    one = atlas()
    found = one.trends("theme", "quarter")
    assert len(found.to_frame()) == len(found.series) * len(found.periods)
    by_label = one.groups("theme")
    assert len(by_label.to_frame()) == len(by_label.cells)
