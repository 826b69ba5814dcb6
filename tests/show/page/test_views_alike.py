"""What every view promises: a picture, a summary, a table, keys, a file; at every size, with anything missing."""

import json
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from drawings import VIEWS, given, made, shown

SVG = "{http://www.w3.org/2000/svg}"
STAGE = ".view-stage"
OUTSIDE = """() => {
  const stage = document.querySelector('.view-stage').getBoundingClientRect();
  const seen = [...document.querySelectorAll('.view-stage svg text')].filter((node) => node.style.display !== 'none');
  const boxes = seen.map((node) => node.getBoundingClientRect());
  return boxes.filter((box) => box.left < stage.left - 1 || box.right > stage.right + 1).length;
}"""
CSV = """async () => {
  const [{ table }, { csvText }] = await Promise.all([import('diln/svg.js'), import('diln/export.js')]);
  const rows = [['=1+1', 0.123456789], ['a, "b"', -2.5], ['-x', null], ['-1+cmd|x', 1e-7],
    ['\\uff1d1', 1], ['\\ufeff\\u200b=1', 1], ['\\u3164@x', 1]];
  return csvText(table('', ['Name', ['Share', (value) => value.toFixed(1)]], rows));
}"""


def exported(page: Any) -> str | None:
    text: str | None = page.evaluate(
        "import('diln/export.js').then(({ svgText }) => { const svg = view.svg(); return svg && svgText(svg); })"
    )
    return text


@pytest.mark.parametrize("n", [0, 1, 2, 30, 200, 800])
def test_every_view_draws_any_number_of_topics(page, n):
    given(page, made(n))
    for name in VIEWS:
        shown(page, name)
        assert page.get_attribute(STAGE, "aria-label"), name
        assert page.evaluate("view.table().tagName") == "TABLE"
        page.evaluate(
            "view.update({ topic: 0, theme: 0, word: 'x', label: 'sport', since: '2016-02-01', until: null })"
        )
        page.evaluate("view.resize(); settled()")
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{name} is {wide} pixels too wide"


@pytest.mark.parametrize("name", VIEWS)
def test_nothing_but_topics_is_no_error(page, name):
    some = made(4)
    for data in ({}, {"topics": some["topics"]}, {"topics": some["topics"], "map": some["map"], "themes": None}):
        shown(page, name, {**dict.fromkeys(some), **data})
        assert page.get_attribute(STAGE, "aria-label")
        assert page.evaluate("view.table().rows.length") >= 1
        page.focus(STAGE)
        for key in ("ArrowDown", "ArrowRight", "Enter", "Escape", "+", "0"):
            page.keyboard.press(key)


@pytest.mark.parametrize("name", VIEWS)
def test_a_picture_is_a_well_formed_file_without_variables(page, name):
    shown(page, name, made(30))
    page.wait_for_timeout(100)
    text = exported(page)
    assert text is not None and "var(" not in text and "color-mix" not in text
    root = ET.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert float(root.attrib["width"]) > 300 and float(root.attrib["height"]) > 60
    assert root.findall(f".//{SVG}text")
    for node in root.iter():
        assert "NaN" not in "".join(node.attrib.values()), node.attrib


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_fits_a_narrow_page_in_the_dark(opened, name):
    page = opened(viewport={"width": 320, "height": 640}, color_scheme="dark", device_scale_factor=2)
    shown(page, name, made(30))
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    box = page.locator(STAGE).bounding_box()
    assert box["width"] > 200 and box["height"] > 60
    outside = page.evaluate(OUTSIDE)
    assert outside == 0, "text leaves the stage"


@pytest.mark.parametrize("name", VIEWS)
def test_keys_move_and_enter_selects(page, name):
    shown(page, name, made(30))
    page.focus(STAGE)
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("hovered.length") > 0
    assert page.locator("[aria-live]").first.text_content()
    page.keyboard.press("Enter")
    assert page.evaluate("asked.length") == 1
    assert any(part is not None for part in page.evaluate("Object.values(asked[0])"))
    page.keyboard.press("Escape")
    assert page.evaluate("Object.values(asked.at(-1)).every((value) => value === null)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_amiss(page, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    given(page, made(12))
    page.evaluate(f"document.documentElement.dataset.theme = {scheme!r}")
    for name in VIEWS:
        shown(page, name)
        page.focus(STAGE)
        page.keyboard.press("ArrowDown")
        found = axe.Axe().run(page, context="#host", options={"resultTypes": ["violations"]}).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["id"] != "region"] == [], name


def test_the_table_takes_the_place_of_the_picture_and_gives_it_back(page):
    shown(page, "network", made(30))
    button = page.get_by_role("button", name="As a table")
    button.click()
    assert page.locator("table").is_visible() and not page.locator(STAGE).is_visible()
    button.click()
    assert page.locator("table").count() == 0 and page.locator(STAGE).is_visible()


def test_a_table_as_csv_has_full_precision_and_no_formulas(page):
    found = page.evaluate(CSV)
    assert found.split("\r\n") == ["Name,Share", "'=1+1,0.123456789", '"a, ""b""",-2.5', "'-x,", "'-1+cmd|x,1e-7",
        "'\uff1d1,1", "'\ufeff\u200b=1,1", "'\u3164@x,1", ""]  # fmt: skip


def test_pictures_become_png(page):
    shown(page, "matrix", made(30))
    size = page.evaluate("import('diln/export.js').then(({ pngBlob }) => pngBlob(view)).then((blob) => blob.size)")
    assert size > 5000


def test_new_data_and_a_closed_view_leave_nothing_behind(page):
    for name in VIEWS:
        shown(page, name, made(12))
        page.evaluate(f"view.setData({json.dumps(made(20))}); settled()")
        assert page.get_attribute(STAGE, "aria-label")
        page.evaluate("view.destroy(); view = null")
        assert page.inner_html("#host") == ""
