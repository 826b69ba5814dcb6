"""At any number of themes, every view and every file has each topic in the theme that the themes themselves say."""

import csv
import io
from collections import Counter
from xml.etree import ElementTree

import pytest
from explorers import settle

SVG = "{http://www.w3.org/2000/svg}"
ASK = "(path) => fetch(`/api/${path}`).then((reply) => reply.json())"
FILLS = "(css) => [...document.querySelectorAll(css)].map((node) => node.style.fill)"

PARTS = """() => [...document.querySelectorAll('#view .drawing')].flatMap((host, drawing) =>
  [...host.querySelectorAll('svg g')].filter((part) => !part.querySelector('g')).map((part) => ({
    drawing,
    colour: [...part.querySelectorAll('*')].map((node) => node.style.fill).find((fill) => fill.includes('theme')),
    label: [...part.querySelectorAll('text')].map((node) => node.textContent).find((text) => text.includes(',')),
  })).filter((part) => part.colour))"""


@pytest.fixture
def themed(looking):
    """Opens a view at another number of themes than the automatic one; gives the page and these themes."""

    def look(query):
        page = looking("view=topics").page
        n = page.evaluate(ASK, "themes")["n"] + 2
        page.goto(f"{page.url.split('?')[0]}?{query}&themes={n}")
        page.wait_for_selector("html[data-ready]")
        settle(page)
        found = page.evaluate(ASK, f"themes?n={n}")
        home = {int(topic): theme for topic, theme in found["topic_theme"].items()}
        listed = page.evaluate(ASK, "topics")
        assert any(home[one["id"]] != one["theme"] for one in listed), "the two numbers of themes must differ"
        return page, found, home

    return look


def exported(page, kind):
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as told:
        page.locator(f"#exports [data-export={kind}]").click()
    return told.value.path().read_text(encoding="utf-8-sig")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def pairs_of(text):
    """Topics of a table of pairs."""
    _, *rows = csv.reader(io.StringIO(text))
    return {int(row[at]) for row in rows for at in (0, 2)}


def colours(themes):
    """Colours of these themes, none of which is after the twelfth."""
    return [f"var(--theme-{theme})" for theme in themes]


def same_parts(one, two):
    """Whether two lists are equal where the other one is."""
    return len(set(zip(one, two, strict=True))) == len(set(one)) == len(set(two))


def test_the_map_and_its_files_have_the_themes_that_were_chosen(themed):
    page, found, home = themed("view=map")
    label = {theme["id"]: theme["label"] for theme in found["themes"]}
    rows = rows_of(exported(page, "csv"))
    assert len(rows) == len(home)
    assert all(row["Theme"] == label[home[int(row["Topic"])]] for row in rows)
    themes = [home[int(row["Topic"])] for row in rows]
    assert page.evaluate(FILLS, "#view svg circle") == colours(themes)
    assert page.evaluate(FILLS, "#view svg ellipse") == colours(sorted(label))
    drawn = ElementTree.fromstring(exported(page, "svg"))
    assert same_parts([node.get("fill") for node in drawn.iter(f"{SVG}circle")][: len(rows)], themes)


def test_documents_that_zooming_brings_have_the_themes_that_were_chosen(themed):
    page, found, _ = themed("view=map")
    box = page.locator("#view svg circle").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    with page.expect_response(lambda reply: "map/documents" in reply.url and "x0=" in reply.url) as told:
        for _ in range(5):
            page.mouse.wheel(0, -300)
    assert f"n_themes={found['n']}" in told.value.url


def test_the_matrix_lays_topics_by_the_themes_that_were_chosen(themed):
    page, _, home = themed("view=matrix")
    shown = pairs_of(exported(page, "csv"))
    bands = page.evaluate("""() => [...document.querySelectorAll('#view svg rect[width="3"]')]
        .map((node) => [node.style.fill, Number(node.getAttribute('height')) + 1])""")
    counts = sorted(Counter(home[topic] for topic in shown).items())
    assert [colour for colour, _ in bands] == colours(theme for theme, _ in counts)
    cell = sum(height for _, height in bands) / len(shown)
    assert [round(height / cell) for _, height in bands] == [count for _, count in counts]


def test_the_network_marks_topics_with_the_themes_that_were_chosen(themed):
    page, _, home = themed("view=network")
    every = page.get_by_role("button", name="Also unsure pairs")
    if every.is_visible():
        every.click()
        settle(page)
    shown = pairs_of(exported(page, "csv"))
    assert Counter(page.evaluate(FILLS, "#view svg circle")) == Counter(colours(home[topic] for topic in shown))


@pytest.mark.parametrize(("view", "drawings"), [("trends", 2), ("compare", 1)])
def test_lines_bars_and_matches_have_the_themes_that_were_chosen(themed, view, drawings):
    page, _, home = themed(f"view={view}&by=topic")
    topic = {one["label"]: one["id"] for one in page.evaluate(ASK, "topics")}
    parts = page.evaluate(PARTS)
    assert {part["drawing"] for part in parts} == set(range(drawings))
    for drawing in range(drawings):
        rows = [part for part in parts if part["drawing"] == drawing and part["label"] in topic]
        assert {part["label"] for part in rows} == set(topic)
        assert [part["colour"] for part in rows] == colours(home[topic[part["label"]]] for part in rows)


def test_files_of_topics_and_documents_have_the_themes_that_were_chosen(themed):
    page, found, home = themed("view=topics")
    label = {theme["id"]: theme["label"] for theme in found["themes"]}
    rows = rows_of(exported(page, "csv"))
    assert {int(row["topic"]): row["theme"] for row in rows} == {topic: label[theme] for topic, theme in home.items()}
    rows = rows_of(exported(page, "documents"))
    assert Counter(row["theme"] for row in rows if row["theme"]) == {
        str(theme["id"]): theme["n_docs"] for theme in found["themes"] if theme["n_docs"]
    }
