"""Notebooks show topics, themes and pairs as tables: escaped, short, and in the notebook's own colours."""

from dataclasses import replace
from html.parser import HTMLParser

import handmade
import newsroom
import numpy as np
import pytest

from diln.analysis import Atlas, correlated_pairs, largest_topics
from diln.analysis.html import MOST, Bar, lift_range, percent, shown_chance, shown_lift, table


class Read(HTMLParser):
    """What a page says: its tags, which must be closed, and the texts of its cells."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open, self.tags, self.cells, self.styles = [], [], [], []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)
        self.styles.append(dict(attrs).get("style") or "")
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open:
            self.cells[-1] += data


SHOWN = {
    "atlas": lambda: newsroom.atlas(),
    "topics": lambda: newsroom.atlas().topics(),
    "topic": lambda: newsroom.atlas().topics()[0],
    "themes": lambda: newsroom.atlas().themes(),
    "theme": lambda: newsroom.atlas().themes().themes[0],
    "pairs": lambda: newsroom.atlas().pairs(),
    "pairs of chains": lambda: newsroom.atlas(2).pairs(unsure=True),
    "friends": lambda: newsroom.atlas().friends(0),
    "words": lambda: newsroom.atlas().words(0),
    "document": lambda: newsroom.atlas().document(3),
    "groups": lambda: newsroom.atlas().groups(),
    "trends": lambda: newsroom.atlas().trends("theme", "quarter"),
    "standardised trends": lambda: newsroom.atlas().trends("theme", "quarter", standardise=True),
    "trends by label": lambda: newsroom.atlas().trends_by_label("theme", "quarter"),
    "largest topics": lambda: largest_topics(newsroom.editor()),
    "correlated pairs": lambda: correlated_pairs(newsroom.editor()),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_gets_sound_html_without_colours_of_its_own(name):
    page = Read(SHOWN[name]()._repr_html_())
    assert page.cells
    for style in page.styles:
        assert "color:#" not in style.replace("background-color", "")
        assert "background:#fff" not in style


def test_topics_have_a_row_each_with_their_words():
    topics = newsroom.atlas().topics()
    page = Read(topics._repr_html_())
    assert page.tags.count("tr") == 1 + len(topics)
    assert str(topics[0].id) in page.cells
    assert ", ".join(topics[0].telling) in page.cells


def test_pairs_have_the_labels_of_their_topics():
    atlas = newsroom.atlas()
    found, labels = atlas.pairs(3), {topic.id: topic.label for topic in atlas.topics()}
    cells = Read(found._repr_html_()).cells
    for pair in (*found.positive, *found.negative):
        assert f"{pair.first}  {labels[pair.first]}" in cells
    plain = correlated_pairs(newsroom.editor(), 3)
    assert set(plain.labels) == {
        one for pair in (*plain.positive, *plain.negative) for one in (pair.first, pair.second)
    }
    assert plain == correlated_pairs(newsroom.editor(), 3)


def test_trends_are_curves_with_their_ends_and_documents():
    found = newsroom.uneven().trends("theme", "quarter")
    page = found._repr_html_()
    cells = Read(page).cells
    n = len(found.periods)
    rows = [cells[at : at + 6] for at in range(0, len(cells), 6)]
    assert rows[0][1:] == ["documents", "", "1", str(max(found.n_docs)), found.periods[np.argmax(found.n_docs)]]
    for row, series in zip(rows[1:], found.series, strict=True):
        values = [value for value in series.values if value is not None]
        at = series.values.index(max(values))
        told = [str(series.id), series.label, "", percent(min(values)), percent(max(values)), found.periods[at]]
        assert row == told
    assert page.count("<svg") == len(rows)
    assert page.count("<rect") == n + (n - 1) * len(found.series), "no bar for the period of one document"
    assert "<b>Warning:</b> The mix of labels changes over time" in page
    assert "standardise=True" in page
    assert "No share where there are fewer than 10 documents: 2021-Q1 (1)." in page


def test_groups_are_shares_lifts_and_marks_of_what_is_sure():
    found = newsroom.atlas().groups("theme")
    page = found._repr_html_()
    cells = Read(page).cells
    assert "nan" not in page
    for cell in found.cells:
        if not cell.sure:
            continue
        mark = "▲" if cell.lift > 1 else "▼"
        row = [f"{cell.id}  {cell.name}", percent(cell.share), mark, shown_lift(cell.lift),
               lift_range(cell.low, cell.high), shown_chance(cell.p)]  # fmt: skip
        assert any(cells[at : at + 6] == row for at in range(len(cells)))
    marks = page.count("▲") + page.count("▼")
    assert marks == sum(cell.sure for cell in found.cells)
    assert f"{marks} of {len(found.cells)} differences are more than chance" in page


def test_many_groups_are_those_that_the_command_shows():
    found = newsroom.atlas().groups("topic")
    many = replace(found, cells=found.cells * 9)  # more than are all shown
    page = Read(many._repr_html_())
    more, less = many.differences(many.labels[0].name)
    assert f"{more[0].id}  {more[0].name}" in page.cells
    assert f"and {len(more) - 3:,} higher, and {len(less) - 3:,} lower" in page.cells
    assert not any(cell == "" for cell in page.cells[4::8][:6]), "only sure ones"


def test_words_that_look_like_html_stay_words():
    odd = ["<script>alert(1)</script>", "&amp;", '"quoted"', "$x$", "\u202etxt", "\x00"]
    model = replace(handmade.random_model(0, n_terms=len(odd)), vocabulary=odd)
    for shown in (largest_topics(model), Atlas(model).topics(), Atlas(model).themes(), Atlas(model).pairs()):
        page = shown._repr_html_()
        assert "script" not in Read(page).tags
        assert "<script" not in page
        assert "$" not in page  # which notebooks take for a formula
        assert not {"\u202e", "\x00"} & set(page)


def test_long_tables_are_cut_and_say_so():
    page = table({"number": number} for number in range(MOST + 1))
    assert Read(page).tags.count("tr") == 1 + MOST
    assert f"showing {MOST} of {MOST + 1}" in page
    assert "showing" not in table({"number": number} for number in range(MOST))


def test_bars_are_no_longer_than_the_longest():
    for share, most, long in ((0.5, 1.0, 30), (2.0, 1.0, 60), (-1.0, 1.0, 0), (1.0, 0.0, 0)):
        assert f"width:{long}px;background" in Bar(share, most).html()


def test_numbers_keep_digits_that_count():
    shares = (1, 0.5, 0.125, 0.0999, 0.042, 0.00996, 0.0031, 0.0001, 0.00009, 0, float("nan"))
    words = ["100%", "50%", "13%", "10%", "4.2%", "1.0%", "0.31%", "0.01%", "<0.01%", "0%", "unknown"]
    assert [percent(one) for one in shares] == words


def test_an_empty_list_is_no_table():
    assert "table" not in Read(type(newsroom.atlas().topics())()._repr_html_()).tags
