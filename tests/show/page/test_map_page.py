"""The map: labels that never overlap, zoom from themes to documents, a million points, places that move."""

from typing import Any

import pytest
from drawings import made, shown

STAGE = ".view-stage"
LABELS = """() => [...document.querySelectorAll('.view-stage text')].map((node) => {
  const { x, y, width, height } = node.getBBox();
  return { key: node.dataset.key, text: node.textContent, box: [x, y, x + width, y + height] };
})"""
MANY = """(n) => {
  const part = () => new Uint16Array(n);
  const [x, y, theme, topic] = [part(), part(), part(), part()];
  let seed = 1;
  const next = () => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return seed >>> 16; };
  for (let at = 0; at < n; at += 1) { x[at] = next(); y[at] = next(); theme[at] = at % 6; topic[at] = at % 30; }
  window.documents = { x, y, theme, topic };
}"""
TOUCH = """(steps) => {
  const node = document.querySelector('.view-stage');
  const box = node.getBoundingClientRect();
  const finger = { pointerType: 'touch', button: 0, buttons: 1, bubbles: true, cancelable: true };
  for (const [type, pointerId, x, y] of steps)
    node.dispatchEvent(new PointerEvent(type, { ...finger, pointerId, clientX: box.left + x, clientY: box.top + y }));
  return settled();
}"""
INK = """() => {
  const canvas = document.querySelector('canvas');
  const copy = document.createElement('canvas');
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const pen = copy.getContext('2d');
  pen.drawImage(canvas, 0, 0);
  const { data } = pen.getImageData(0, 0, copy.width, copy.height);
  let inked = 0;
  for (let at = 3; at < data.length; at += 4) inked += data[at] > 0;
  return inked / (data.length / 4);
}"""


def labels(page: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate(LABELS)
    return found


def overlaps(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Labels whose boxes share more than a pixel."""
    pairs = []
    for at, one in enumerate(found):
        for two in found[at + 1 :]:
            a, b = one["box"], two["box"]
            if min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 1:
                pairs.append((one["text"], two["text"]))
    return pairs


@pytest.mark.parametrize(("n", "width"), [(2, 1000), (30, 320), (200, 1000), (800, 1400)])
def test_labels_never_overlap_however_far_one_zooms(opened, n, width):
    page = opened(viewport={"width": width, "height": 900})
    shown(page, "map", {**made(n), "matrix": None})
    page.focus(STAGE)
    for _ in range(5):
        found = labels(page)
        assert overlaps(found) == []
        page.keyboard.press("+")
        page.keyboard.press("+")
        page.evaluate("settled()")


def test_more_of_what_is_in_view_is_named_when_zoomed_in(page):
    shown(page, "map", made(200))
    before = {one["key"] for one in labels(page)}
    page.evaluate("view.zoomTo({ topic: data.topics[150].id }); settled()")
    after = {one["key"] for one in labels(page)}
    assert after - before


def test_the_selected_topic_is_always_named_and_shows_its_pairs_only(page):
    data = made(200)
    shown(page, "map", data)
    pair = data["pairs"]["negative"][0]
    page.evaluate(f"view.update({{ topic: {pair['first']} }}); settled()")
    assert str(pair["first"]) in {one["key"] for one in labels(page)}
    every = [*data["pairs"]["positive"], *data["pairs"]["negative"]]
    mine = [one for one in every if pair["first"] in (one["first"], one["second"])]
    drawn = "[...document.querySelectorAll('.view-stage line')].filter((node) => node.style.display !== 'none')"
    solid = page.evaluate(f"{drawn}.filter((node) => !node.getAttribute('stroke-dasharray')).length")
    dashed = page.evaluate(f"{drawn}.filter((node) => node.getAttribute('stroke-dasharray')).length")
    avoiding = sum(one["log_lift"] < 0 for one in mine)
    assert dashed == avoiding, "a dashed line for each that it avoids"
    assert solid == len(mine), "a line for each that it goes with, and a bar across each dashed line"


def test_areas_of_circles_are_shares(page):
    data = made(30)
    shown(page, "map", data)
    radii = page.evaluate("[...document.querySelectorAll('.view-stage circle')].map((node) => node.r.baseVal.value)")
    shares = [topic["share"] for topic in data["topics"]]
    large = [at for at, radius in enumerate(radii) if radius > 4]
    assert len(large) > 5
    for at in large:
        assert radii[at] ** 2 / radii[0] ** 2 == pytest.approx(shares[at] / shares[0], rel=0.05)


def test_a_click_selects_a_topic_and_another_beside_it_clears(page):
    data = made(30)
    shown(page, "map", data)
    box = page.locator(".view-stage circle").first.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert page.evaluate("'topic' in asked[0] && asked[0].topic !== null")
    stage = page.locator(STAGE).bounding_box()
    page.mouse.click(stage["x"] + 4, stage["y"] + stage["height"] - 4)
    assert page.evaluate("asked.at(-1)") == {"topic": None, "theme": None}


def test_wheel_drag_and_keys_move_the_map_and_0_brings_it_back(page):
    shown(page, "map", made(30))
    where = "document.querySelector('.view-stage path').getAttribute('d')"  # the mark of the origin
    start = page.evaluate(where)
    stage = page.locator(STAGE).bounding_box()
    page.mouse.move(stage["x"] + 100, stage["y"] + 100)
    page.mouse.wheel(0, -300)
    page.wait_for_function(f"{where} !== {start!r}")
    zoomed = page.evaluate(where)
    page.mouse.down()
    page.mouse.move(stage["x"] + 160, stage["y"] + 130, steps=4)
    page.mouse.up()
    page.wait_for_function(f"{where} !== {zoomed!r}")
    assert page.evaluate("asked.length") == 0, "a drag is no click"
    page.focus(STAGE)
    page.keyboard.press("0")
    page.wait_for_function(f"{where} === {start!r}")


@pytest.mark.parametrize("gpu", [True, False])
def test_a_million_documents_are_drawn_picked_and_thinned(page, gpu):
    data = {**made(30), "documents": None}
    shown(page, "map", data, f"{{ gpu: {str(gpu).lower()} }}")
    page.evaluate(MANY, 1_000_000)
    page.evaluate("view.setDocuments(documents); settled()")
    assert page.evaluate("view.points.n") == 1_000_000
    assert gpu or page.evaluate("view.points.gpu") is False
    assert page.evaluate(f"view.resize(); ({INK})()") > 0.05, "in the same task: a canvas of WebGL is cleared after it"
    picked = page.evaluate("view.points.pick(0.2, -0.3, 0.01, 0.01)")
    assert abs(picked["x"] - 0.2) < 0.01 and abs(picked["y"] + 0.3) < 0.01
    nearest = """(() => { let [best, least] = [-1, 9];
      for (let at = 0; at < 1e6; at += 1) {
        const far = Math.hypot(documents.x[at] / 32767.5 - 1 - 0.2, documents.y[at] / 32767.5 - 1 + 0.3);
        if (far < least) [best, least] = [at, far];
      } return best; })()"""
    assert picked["at"] == page.evaluate(nearest), "picking by cells finds what a search of all finds"
    page.focus(STAGE)
    for key in ("+", "+", "Shift+ArrowLeft", "-", "0"):
        page.keyboard.press(key)
        page.evaluate("settled()")
    page.evaluate("view.update({ theme: 2 }); settled()")
    assert page.evaluate("view.svg().querySelectorAll('path').length") > 5


def test_documents_in_view_are_asked_for_when_zoomed_in_deep(page):
    ask = """{ loadDocuments: async (box) => {
      (window.boxes ??= []).push(box);
      const [x, y] = [(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2];
      return [{ row: 7, title: 'A title', x, y, theme: 1, topic: 2 }];
    } }"""
    shown(page, "map", made(30), ask)
    assert page.evaluate("window.boxes ?? null") is None
    page.focus(STAGE)
    for _ in range(5):
        page.keyboard.press("+")
    page.wait_for_function("[...document.querySelectorAll('text')].some((node) => node.textContent === 'A title')")
    box = page.evaluate("boxes.at(-1)")
    assert -1.5 < box["x0"] < box["x1"] < 1.5 and box["y0"] < box["y1"] and box["n"] > 0
    stage = page.locator(STAGE).bounding_box()
    page.mouse.click(stage["x"] + stage["width"] / 2, stage["y"] + stage["height"] / 2)
    assert page.evaluate("asked.at(-1)") == {"document": 7}


def test_topics_move_to_new_places_and_get_there(opened):
    page = opened(reduced_motion="no-preference")
    data = made(12)
    shown(page, "map", data, "{ duration: 120 }")
    where = "document.querySelectorAll('.view-stage circle')[3].getAttribute('cx')"
    start = page.evaluate(where)
    move = "data.map.points.map((point) => ({ ...point, x: -point.x, y: point.y * 0.5 }))"
    page.evaluate(f"view.setData({{ ...data, map: {{ ...data.map, points: {move} }} }})")
    page.wait_for_function(f"{where} !== {start!r}")
    page.wait_for_timeout(400)
    there = page.evaluate(where)
    page.evaluate(f"draw('map', 'createMap', {{ ...data, map: {{ ...data.map, points: {move} }} }})")
    assert there == page.evaluate(where)


def test_the_table_has_all_topics_with_what_they_go_with(page):
    data = made(30)
    shown(page, "map", data)
    rows = page.evaluate("[...view.table().tBodies[0].rows].map((row) => [...row.cells].map((one) => one.textContent))")
    assert [int(row[0]) for row in rows] == [topic["id"] for topic in data["topics"]]
    listed = sum(len(row[7].split(";")) for row in rows if row[7]) + sum(
        len(row[8].split(";")) for row in rows if row[8]
    )
    assert listed == 2 * (len(data["pairs"]["positive"]) + len(data["pairs"]["negative"]))


def test_two_fingers_zoom_and_a_double_tap_zooms_in(page):
    shown(page, "map", made(30))
    where = "document.querySelector('.view-stage ellipse').getAttribute('rx')"
    start = float(page.evaluate(where))
    pinch = [("pointerdown", 1, 200, 200), ("pointerdown", 2, 240, 200), ("pointermove", 1, 160, 200)]
    page.evaluate(TOUCH, [*pinch, ("pointermove", 2, 280, 200), ("pointerup", 1, 160, 200), ("pointerup", 2, 280, 200)])
    wide = float(page.evaluate(where))
    assert wide == pytest.approx(3 * start, rel=0.05), "fingers three times as far apart"
    tap = [("pointerdown", 3, 100, 400), ("pointerup", 3, 100, 400)]
    page.evaluate(TOUCH, [*tap, *tap])
    assert float(page.evaluate(where)) > 2 * wide


@pytest.mark.parametrize("name", ["map", "network"])
def test_a_line_tells_and_selects_its_pair(page, name):
    data = made(2)
    data["map"]["points"] = [{"id": 0, "x": -0.8, "y": 0.3}, {"id": 1, "x": 0.9, "y": -0.2}]
    pair = {"first": 0, "second": 1, "log_lift": -1.2, "lift": 0.3, "sure": True}
    data["pairs"] = {"positive": [], "negative": [pair], "n_pairs": 1, "n_sure": 1}
    shown(page, name, data)
    ends = "(({ x1, y1, x2, y2 }) => [x1, y1, x2, y2].map((end) => end.baseVal.value))"
    x1, y1, x2, y2 = page.evaluate(f"{ends}(document.querySelector('.view-stage line'))")
    stage = page.locator(STAGE).bounding_box()
    x, y = stage["x"] + x1 + (x2 - x1) / 4, stage["y"] + y1 + (y2 - y1) / 4
    page.mouse.move(x, y)
    assert "together 0.3 times as often as by chance, sure" in page.text_content(".view-tip")
    page.mouse.click(x, y)
    assert page.evaluate("asked") == [{"topic": 0, "pair": [0, 1]}]
