"""Parts of the views: colours for every kind of eye, periods, spans of time, cells, signs, matches."""

import re

import numpy as np
import pytest
from drawings import PAGE, made, shown

from diln.analysis.html import percent

STAGE = ".view-stage"
# How colours look to those who lack a kind of cone, in linear RGB (Machado, Oliveira and Fernandes, 2009).
EYES = {
    "all cones": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def tokens(scheme: str) -> dict[str, str]:
    css = (PAGE / "base.css").read_text(encoding="utf-8")
    found = re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", css)
    return {name: light if scheme == "light" else dark for name, light, dark in found}


def linear(colour: str) -> np.ndarray:
    part = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def contrast(one: str, two: str) -> float:
    light = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, two))
    return (light[1] + 0.05) / (light[0] + 0.05)


def oklab(rgb: np.ndarray) -> np.ndarray:
    cones = np.cbrt(np.clip(rgb @ np.transpose([
        [0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]), 0, None))  # fmt: skip
    return cones @ np.transpose([
        [0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.808675766],
    ])  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("eye", EYES)
def test_twelve_themes_differ_for_every_kind_of_eye(scheme, eye):
    known = tokens(scheme)
    seen = oklab(np.clip(np.stack([linear(known[f"theme-{at}"]) for at in range(12)]) @ np.transpose(EYES[eye]), 0, 1))
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=-1)[np.triu_indices(12, 1)]
    assert apart.min() > 0.08  # 0.02 is what can just be seen
    signs = oklab(
        np.clip(np.stack([linear(known[name]) for name in ("attract", "avoid")]) @ np.transpose(EYES[eye]), 0, 1)
    )
    assert np.linalg.norm(signs[0] - signs[1]) > 0.1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_marks_stand_out(scheme):
    known = tokens(scheme)
    for ground in ("paper", "card"):
        for text in ("ink", "soft", "accent", "bad", "attract", "avoid"):
            assert contrast(known[text], known[ground]) >= 4.5, (text, ground)
        for mark in ("none", *(f"theme-{at}" for at in range(12))):
            assert contrast(known[mark], known[ground]) >= 2.9, (mark, ground)
    assert contrast(known["soft"], known["faint"]) >= 4.5
    assert contrast(known["on-accent"], known["accent"]) >= 4.5


def test_shares_are_the_same_words_on_pages_and_in_reports_figures_and_notebooks(page):
    rng = np.random.default_rng(0)
    edges = [0, 1e-9, 0.0001, 0.00995, 0.00125, 0.0095, 0.0995, 0.125, 0.105, 0.5, 1, 1.5]
    shares = [*edges, *(10 ** rng.uniform(-5, 0, 2000)).tolist(), *(np.arange(2000) / 8000).tolist()]
    ask = "(shares) => import('diln/scale.js').then(({ percent }) => shares.map(percent))"
    assert page.evaluate(ask, shares) == [percent(share) for share in shares]
    assert page.evaluate("import('diln/scale.js').then(({ percent }) => percent(NaN))") == percent(float("nan"))


def test_periods_of_every_length_have_their_days(page):
    lists = [
        ["2016", "2017"],
        ["2016-Q4", "2017-Q1"],
        ["2016-12", "2017-01"],
        ["2020-W53", "2021-W01"],
        ["2016-02-28", "2016-02-29"],
    ]
    days = page.evaluate("(lists) => import('diln/periods.js').then(({ edges }) => lists.map(edges))", lists)
    assert days == [
        ["2016-01-01", "2017-01-01", "2018-01-01"], ["2016-10-01", "2017-01-01", "2017-04-01"],
        ["2016-12-01", "2017-01-01", "2017-02-01"], ["2020-12-28", "2021-01-04", "2021-01-11"],
        ["2016-02-28", "2016-02-29", "2016-03-01"],
    ]  # fmt: skip


@pytest.mark.parametrize("layout", ["lines", "multiples"])
def test_a_brush_chooses_whole_periods(page, layout):
    shown(page, "trends", made(9), f"{{ layout: '{layout}' }}")
    box = page.locator(STAGE).bounding_box()
    page.mouse.move(box["x"] + 90, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 180, box["y"] + 60, steps=5)
    page.mouse.up()
    asked = page.evaluate("asked.at(-1)")
    assert re.fullmatch(r"2016-\d\d-01", asked["since"]) and asked["since"] < asked["until"]


def test_a_span_of_time_is_chosen_by_keys(page):
    shown(page, "trends", made(4))
    page.focus(STAGE)
    for key in ("ArrowLeft", "ArrowLeft", "Shift+ArrowLeft", "Shift+ArrowLeft", "Enter"):
        page.keyboard.press(key)
    assert page.evaluate("asked.at(-1)") == {"since": "2017-09-01", "until": "2017-12-01"}


def test_lines_have_gaps_where_there_are_no_documents(page):
    shown(page, "trends", made(1), "{ layout: 'lines' }")
    paths = page.evaluate(
        "[...document.querySelectorAll('.view-stage path[stroke-linejoin]')].map((node) => node.getAttribute('d'))"
    )
    assert [path.count("L") + 1 for path in paths] == [7, 15]
    cells = page.evaluate("[...view.table().tBodies[0].rows].map((row) => row.cells[2].textContent)")
    assert [at for at, cell in enumerate(cells) if cell == ""] == [7, 8]


@pytest.mark.parametrize("layout", ["lines", "multiples"])
def test_periods_of_few_documents_have_hollow_bars_and_no_share(page, layout):
    data = made(1)
    data["trends"]["n_docs"][3] = 2
    for series in data["trends"]["series"]:
        for part in ("values", "low", "high"):
            series[part][3] = None
    shown(page, "trends", data, f"{{ layout: '{layout}' }}")
    few = page.locator(".view-stage rect[data-few]")
    assert few.count() == 1
    assert few.get_attribute("data-docs") == "2"
    assert "hollow ones have no share" in page.locator(".view-legend").text_content()
    page.focus(STAGE)
    for _ in range(21):
        page.keyboard.press("ArrowLeft")
    assert "2016-04" in page.locator("[aria-live]").first.text_content()
    assert "no share, 2 documents" in page.locator("[aria-live]").first.text_content()


def test_documents_are_numbers_where_all_periods_are_named(page):
    data = made(1)
    for part in ("periods", "n_docs"):
        data["trends"][part] = data["trends"][part][:5]
    for series in data["trends"]["series"]:
        series |= {part: series[part][:5] for part in ("values", "low", "high")}
    shown(page, "trends", data, "{ layout: 'lines' }")
    texts = page.locator(".view-stage text.n-docs").all_text_contents()
    assert texts == [str(n) for n in data["trends"]["n_docs"]]


def test_cells_of_the_matrix_are_reached_by_pointer_and_by_keys(page):
    data = made(30)
    shown(page, "matrix", data)
    page.focus(STAGE)
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    assert page.evaluate("asked.at(-1)") == {"topic": 1, "pair": [1, 3]}
    lift = data["matrix"]["log_lift"][1][3]
    said = page.locator("[aria-live]").first.text_content()
    assert "as often as by chance" in said and ("not sure" in said) == (abs(lift) <= 1)
    rows = page.evaluate("view.table().tBodies[0].rows.length")
    assert rows == 30 * 29 / 2


def test_a_matrix_may_be_one_flat_array(page):
    data = made(12)
    shown(page, "matrix", data)
    nested = page.evaluate("view.table().textContent")
    data["matrix"]["log_lift"] = [one for row in data["matrix"]["log_lift"] for one in row]
    data["matrix"]["sure"] = [one for row in data["matrix"]["sure"] for one in row]
    shown(page, "matrix", data)
    assert page.evaluate("view.table().textContent") == nested


def test_the_network_is_the_same_every_time_and_lists_topics_without_a_line(page):
    data = made(30)
    data["topics"].append({**data["topics"][-1], "id": 99, "label": "alone, quite, so"})
    where = "[...document.querySelectorAll('.view-stage circle')].map((node) => node.getAttribute('cx'))"
    shown(page, "network", data)
    first = page.evaluate(where)
    shown(page, "network", data)
    assert page.evaluate(where) == first
    page.evaluate("document.querySelector('.view-aside').open = true")
    page.get_by_role("button", name="alone, quite, so").click()
    assert page.evaluate("asked.at(-1)") == {"topic": 99}


def test_a_topic_of_the_network_can_be_dragged(page):
    shown(page, "network", made(30))
    circle = page.locator(".view-stage circle").last
    box = circle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 30, steps=4)
    page.mouse.up()
    page.evaluate("settled()")
    moved = circle.bounding_box()
    assert abs(moved["x"] - box["x"] - 40) < 3 and abs(moved["y"] - box["y"] - 30) < 3
    assert page.evaluate("asked.length") == 0


def test_the_slider_of_words_asks_for_a_relevance(page):
    shown(page, "words", made(4), "{ onRelevance: (value) => { window.relevance = value; } }")
    slider = page.get_by_role("slider")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("relevance") == pytest.approx(0.5)


def test_matches_are_one_row_each_and_the_others_apart(page):
    data = made(12)
    shown(page, "match", data)
    rows = page.evaluate("[...view.table().tBodies[0].rows].map((row) => [...row.cells].map((one) => one.textContent))")
    matches = data["matching"]["matches"]
    assert len(rows) == 12 and sum(row[3] == "" for row in rows) == 12 - len(matches)
    affinities = [float(row[3]) for row in rows if row[3]]
    assert affinities == sorted(affinities, reverse=True)


def test_a_change_from_light_to_dark_repaints_what_is_on_a_canvas(page):
    shown(page, "matrix", made(30))
    pixel = "document.querySelector('canvas').getContext('2d').getImageData(300, 60, 40, 40).data.join()"
    light = page.evaluate(pixel)
    page.evaluate("document.documentElement.dataset.theme = 'dark'; settled()")
    assert page.evaluate(pixel) != light
