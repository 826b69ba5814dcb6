"""Every view renders, on every screen, and says the same in a table."""

import re

import pytest
from explorers import PHONE, settle, until

VIEWS = ["map", "matrix", "network", "trends", "topics", "documents", "read", "training", "compare"]


@pytest.mark.parametrize("look", ["light", "dark"])
def test_every_view_is_accessible(looking, look):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = looking("view=map&topic=0", color_scheme=look).page
    for view in [*VIEWS, "reader"]:
        open_view(page, view)
        found = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
        grave = [one for one in found if one["impact"] in ("serious", "critical")]
        told = [(one["id"], one["nodes"][0]["html"][:200], one["nodes"][0].get("failureSummary")) for one in grave]
        assert told == [], view


def open_view(page, view):
    """Go to a view by its tab, or from the list of documents to a text."""
    if view == "reader":
        page.locator("[data-view=documents]").click()
        page.locator(".results .doc-title").first.click()
        page.wait_for_selector(".coloured .word")
    else:
        page.locator(f"[data-view={view}]").click()
    settle(page)
    assert page.locator("#view h2").filter(visible=True).count() >= 1


def test_every_view_fits_a_phone(looking):
    page = looking("view=map&topic=0", viewport=PHONE, has_touch=True, is_mobile=True).page
    for view in [*VIEWS, "reader"]:
        open_view(page, view)
        for part in ("documentElement", "getElementById('view')"):
            node = f"document.{part}"
            assert page.evaluate(f"{node}.scrollWidth - {node}.clientWidth") <= 0, f"{view} is to be scrolled sideways"


@pytest.mark.parametrize("view", ["map", "matrix", "network", "trends", "compare"])
def test_a_drawing_has_a_table_for_its_twin(looking, view):
    page = looking(f"view={view}").page
    settle(page)
    if view == "network" and page.get_by_role("button", name="Also unsure pairs").is_visible():
        page.get_by_role("button", name="Also unsure pairs").click()
    button = page.locator("[data-twin]").first
    button.wait_for()
    until(page, "!document.querySelector('[data-twin]').disabled")
    button.click()
    assert page.locator(".twin table tbody tr").count() > 0
    page.keyboard.press("t")
    assert page.locator(".twin").first.is_hidden()


def test_the_sheet_of_a_phone_opens_and_closes(looking):
    page = looking("view=topics&topic=0", viewport=PHONE, has_touch=True, is_mobile=True).page
    grip = page.locator(".grip")
    assert grip.get_attribute("aria-expanded") == "false"
    grip.tap()
    assert grip.get_attribute("aria-expanded") == "true"
    until(page, "document.getElementById('card').clientHeight > 300")
    assert page.locator("#card h2").is_visible()


def test_light_and_dark_can_be_chosen_and_stay(looking):
    page = looking("view=topics", color_scheme="light").page
    ground = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(ground)
    page.locator(".look").click()
    page.locator(".look").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate(ground) != before
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_the_corpus_is_told_in_sentences(looking):
    page = looking("view=topics").page
    assert re.search(r"300 documents", page.locator("#card").inner_text())


def test_the_explorer_words_shares_as_its_drawings_do(looking):
    page = looking("view=topics").page
    parts = "[import('app/format.js'), import('diln/scale.js')]"
    assert page.evaluate(f"Promise.all({parts}).then(([one, two]) => one.percent === two.percent)")
