"""A report is one whole HTML file: every topic has its card, no text is more than text, and cuts are told."""

import json
import re
from html.parser import HTMLParser

import newsroom
import numpy as np
import pytest
from report_content import HOSTILE, made_up

import diln
from diln import Corpus
from diln.analysis import Atlas
from diln.analysis.html import percent
from diln.errors import DilnError
from diln.show.report import write_report
from diln.show.report.documents import named
from diln.show.report.gather import Wanted, gather, lonely
from diln.show.report.markup import Markup, data, el, shown
from diln.show.report.pictures import matrix_picture, peak, sparkline
from diln.show.report.words import showing, times, together_as_often
from diln.show.report.write import made

VOID = {"img", "input", "link", "meta"}
WORDS = ["apple pear plum orchard fruit", "brake wheel engine gear motor", "violin flute drum horn concert"]


class Page(HTMLParser):
    """What a page holds; whether all elements are closed as they were opened."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def page_of(content) -> tuple[str, Page]:
    text = made(content).decode()
    return text, Page(text)


@pytest.fixture(scope="module")
def atlas(tmp_path_factory) -> Atlas:
    """Documents of three kinds with dates and labels; some titles try to be more than that."""
    rng = np.random.default_rng(0)
    texts = [". ".join(" ".join(rng.choice(WORDS[kind % 3].split(), 6)) for _ in range(5)) for kind in range(90)]
    texts[4] += " </script><script>window.hacked = 1</script>"
    corpus = Corpus.from_texts(
        texts, titles=[f"Number {at} {HOSTILE[at % len(HOSTILE) - 2]}" for at in range(90)],
        dates=[f"2016-{1 + at % 12:02}-03" for at in range(90)], labels=["fruit", "cars", "music"] * 30,
        min_df=1, max_df=1.0,
    )  # fmt: skip
    model = diln.DILN(n_components=6, max_iter=30, random_state=0, inference=diln.Sampling()).fit(corpus)
    return Atlas(model, corpus)


@pytest.mark.parametrize("n_topics", [1, 2, 30, 200, 800])
def test_a_small_file_has_a_card_for_every_topic_and_a_target_for_every_link(n_topics):
    content = made_up(n_topics)
    text, page = page_of(content)
    assert len(text.encode()) < 8_000_000
    ids = [attributes["id"] for _, attributes in page.found if attributes.get("id")]
    assert len(ids) == len(set(ids))
    assert {f"topic-{one['id']}" for one in content["topics"]} <= set(ids)
    links = {attributes["href"] for attributes in page.all("a")}
    assert {link[1:] for link in links} <= set(ids)


def test_the_same_content_gives_the_same_bytes():
    assert made(made_up(30)) == made(made_up(30))


def test_no_text_is_more_than_text():
    text, page = page_of(made_up(30, hostile=True))
    plain, plain_page = page_of(made_up(30))
    assert [tag for tag, _ in page.found].count("script") == len(plain_page.all("script")) == 3
    assert [tag for tag, _ in page.found].count("style") == 2
    assert {tag for tag, _ in page.found} == {tag for tag, _ in plain_page.found}
    assert not any(name.startswith("on") for _, attributes in page.found for name in attributes)
    assert "\x00" not in text
    assert "evil.example/x&quot; onerror" in text
    assert plain.count("{{") == 0


def test_the_page_may_load_nothing():
    text, page = page_of(made_up(2, hostile=True))
    policy = next(one["content"] for one in page.all("meta") if one.get("http-equiv"))
    assert "default-src 'none'" in policy and "unsafe-eval" not in policy and "http" not in policy
    assert not re.search(r"connect-src|script-src[^;]*(unsafe-inline|data:|\*)", policy)
    for tag, attributes in page.found:
        for name in ("src", "href", "srcset", "action", "poster"):
            if attributes.get(name):
                assert attributes[name].startswith(("#", "data:")), (tag, attributes)
    assert not re.search(r"@import|url\((?!data:)", text.split("</style>")[0])


def test_data_for_scripts_survives_as_it_was():
    for value in (*HOSTILE[:8], "\u2028\u2029", [1.5, float("nan"), float("inf")]):
        inside = re.fullmatch(r"<script[^>]*>(.*)</script>", data("x", {"a": value}), re.DOTALL)[1]
        assert "<" not in inside
        assert json.loads(inside)["a"] == ([1.5, None, None] if isinstance(value, list) else value)


def test_markup_escapes_what_is_not_markup():
    assert el("p", "<b>", Markup("<i>x</i>"), None, class_='a"b', hidden=True, title=None) == (
        '<p class="a&quot;b" hidden>&lt;b&gt;<i>x</i></p>'
    )
    assert shown("a\x00b\ud800") == "a\ufffdb\ufffd"


def test_what_there_is_nothing_of_has_no_section():
    content = made_up(5, dates=False, labels=False) | {"pairs": None, "matrix": None, "map": None}
    for topic in content["topics"]:
        topic |= {"friends": [], "rivals": [], "typical": None, "n_docs": None, "found": None}
    _, page = page_of(content)
    names = {attributes.get("id") for attributes in page.all("section")}
    assert {"summary", "themes", "topics", "sure", "method", "cite"} <= names
    assert not names & {"map", "network", "matrix", "time", "labels"}
    assert "--corpus" in made(content).decode()


def test_a_cut_list_says_so():
    text, _ = page_of(made_up(30))
    for told in (
        "showing 3 of 40",
        "showing 12 of 400 words",
        "showing 1 of 9",
        "showing 8 of 10 topics",
        "showing 15 of 30",
    ):
        assert told in text
    assert showing(3, 3) == "" and showing(2, 1234, "words") == "showing 2 of 1,234 words"


def test_numbers_are_said_as_people_say_them():
    assert [times(one) for one in (4.06, 0.312, 12.3, 1e9, None, 0.0)] == (
        ["4.1", "0.31", "12", "more than 999", "more than 999", "less than 0.01"]
    )
    pair = {"lift": 4.1, "low": 2.0, "high": 8.0, "sure": True}
    assert together_as_often(pair) == "together 4.1 times as often as by chance, sure"
    assert together_as_often(pair | {"sure": None}) == "together 4.1 times as often as by chance"


def test_a_document_is_named_by_what_is_known_of_it():
    document = {"row": 41, "id": "a1", "title": "A title"}
    assert [named(document), named(document | {"title": ""}), named({"row": 41, "id": "", "title": ""})] == (
        ["A title", "a1", "document in row 41"]
    )


def test_lines_are_broken_where_there_is_no_document():
    drawn = sparkline([0.1, 0.2, None, 0.3, 0.1], [0.0] * 5, [0.4] * 5)
    assert drawn.count("<polyline") == 2 and "nan" not in drawn
    assert sparkline([None] * 4, [None] * 4, [None] * 4).count("polyline") == 0
    assert sparkline(list(np.linspace(0, 1, 4000)), [0.0] * 4000, [1.0] * 4000).count(",") < 300
    assert peak([None, 0.2, 0.3, None, 0.3]) == 2


def test_periods_are_longer_where_they_would_make_no_line():
    assert lonely([5, 0, 0, 0, 7, 0, 0, 0, 9])
    assert not lonely([1, 0, 0, 1, 0, 0, 8, 9, 7, 5])
    texts = ["apple pear plum orchard", "brake wheel engine gear"] * 60
    years = [str(2000 + at // 12) for at in range(120)]
    corpus = Corpus.from_texts(texts, dates=years, min_df=1, max_df=1.0)
    model = diln.LDA(2, max_iter=3, random_state=0).fit(corpus)
    found = gather(Atlas(model, corpus), Wanted("x"))["topic_trends"]
    assert found["granularity"] == "year" and len(found["periods"]) == 10


def test_documents_of_each_period_and_a_change_of_sources_are_told(tmp_path):
    one = newsroom.uneven()
    found = one.trends("theme", "quarter")
    write_report(one, tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert found.warning in text
    assert "The picture can show all themes with the mix of labels held constant." in text
    assert "No share where there are fewer than 10 documents: 2021-Q1 (1)." in text
    table = re.search(r'<table class="trend-table">(.*?)</table>', text, re.DOTALL)[1]
    rows = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in re.findall(r"<tr.*?</tr>", table)]
    most = max(found.n_docs)
    assert rows[1][2:] == [f"{found.n_docs[0]}", "1", f"{most} in {found.periods[found.n_docs.index(most)]}"]
    for row, series in zip(rows[2:], found.series, strict=True):
        values = [value for value in series.values if value is not None]
        at = series.values.index(max(values))
        assert row[2:] == [percent(values[0]), percent(values[-1]), f"{percent(max(values))} in {found.periods[at]}"]
    data = json.loads(re.search(r'id="report-data"[^>]*>(.*?)</script>', text, re.DOTALL)[1])
    assert data["held_trends"]["standardised"]


def test_a_matrix_is_a_picture_of_its_size():
    lifts = [[0.0, 2.0, None], [2.0, 0.0, -9.0], [None, -9.0, 0.0]]
    drawn = matrix_picture({"order": [1, 2, 3], "log_lift": lifts, "sure": None, "themes": [0, 0, 1]})
    assert "data:image/png;base64," in drawn and drawn.count("<span") == 2


def test_a_fitted_model_becomes_a_report(atlas, tmp_path):
    said = []
    size = write_report(atlas, tmp_path / "r.html", title="Of <three> kinds", tell=lambda *one: said.append(one))
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    page = Page(text)
    assert size == (tmp_path / "r.html").stat().st_size
    assert {f"topic-{one.id}" for one in atlas.topics()} <= {attributes.get("id") for attributes in page.all("article")}
    assert {one["id"] for one in page.all("section") if one.get("id")} >= {"themes", "map", "time", "labels", "topics"}
    assert "<title>Of &lt;three&gt; kinds</title>" in text
    assert "one chain" in text and "how many of its topics" in text
    assert len(page.all("script")) == 3
    assert ("topics", 0, len(atlas.topics())) in said


def test_the_same_model_gives_the_same_bytes(atlas, tmp_path):
    for name in ("a.html", "b.html"):
        write_report(atlas, tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_texts_are_left_out_where_that_is_asked_for(atlas, tmp_path):
    write_report(atlas, tmp_path / "r.html", texts=False)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Number " not in text and "<q " not in text and "are left out" in text
    assert "<cite" in text
    every = json.dumps(gather(atlas, Wanted("x", texts=False)))
    assert "Number " not in every and not re.search(
        r"[a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+\. [a-z]", every.split('"method"')[0]
    )


def test_edits_are_told(atlas, tmp_path):
    first, second = (one.id for one in atlas.topics()[:2])
    edited = atlas.edited(atlas.edits.rename(first, "The <first>").merge([first, second]))
    write_report(edited, tmp_path / "r.html", n_themes=1, n_documents=0)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "The &lt;first&gt;" in text and "1 topic was named, 1 group of topics was merged" in text
    assert f'id="topic-{second}"' not in text and f"with topic {second}, merged by hand" in text


def test_nothing_is_written_over_unless_asked_for(atlas, tmp_path):
    (tmp_path / "r.html").write_text("mine")
    with pytest.raises(DilnError, match="is there already"):
        write_report(atlas, tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text() == "mine"
    write_report(atlas, tmp_path / "r.html", overwrite=True)
    assert (tmp_path / "r.html").stat().st_size > 50_000
    with pytest.raises(DilnError, match="is a folder"):
        write_report(atlas, tmp_path)
    with pytest.raises(DilnError, match="no such folder"):
        write_report(atlas, tmp_path / "nowhere" / "r.html")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"n_documents": -1}, ValueError),
        ({"title": 3}, TypeError),
        ({"n_themes": 0}, ValueError),
        ({"n_themes": "x"}, ValueError),
        ({"n_themes": 99}, ValueError),
    ],
)
def test_odd_arguments_are_refused(atlas, tmp_path, given, error):
    with pytest.raises(error):
        write_report(atlas, tmp_path / "r.html", **given)
    assert not (tmp_path / "r.html").exists()
