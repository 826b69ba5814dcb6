"""A report in a browser, from the disk with no network: it draws, searches, follows links, prints, is accessible."""

from collections.abc import Iterator
from pathlib import Path

import chromium
import pytest
from report_content import made_up

from diln.show.report.write import made

pytestmark = pytest.mark.skipif(chromium.missing() is not None, reason=str(chromium.missing()))

PICTURES = {"map", "network", "matrix", "time"}


@pytest.fixture(scope="module")
def browser() -> Iterator:
    with chromium.open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def reports(tmp_path_factory) -> dict[int, str]:
    """Addresses of reports by their number of topics; that with 30 topics has hostile texts."""
    folder = tmp_path_factory.mktemp("reports")

    def write(n_topics: int) -> str:
        path: Path = folder / f"report-{n_topics}.html"
        path.write_bytes(made(made_up(n_topics, hostile=n_topics == 30)))
        return path.as_uri()

    return {n_topics: write(n_topics) for n_topics in (1, 2, 30, 200, 800)}


def opened(browser, address: str, **options):
    return chromium.watched(browser, address, **options)


def drawn(page, address: str):
    page.goto(address)
    page.wait_for_selector("html[data-drawn]", timeout=60_000)


@pytest.mark.parametrize("n_topics", [1, 2, 30, 200, 800])
def test_all_pictures_are_drawn_from_the_disk_and_nothing_is_asked_for(browser, reports, n_topics):
    with opened(browser, reports[n_topics], offline=True) as seen:
        drawn(seen.page, reports[n_topics])
        shown = seen.page.eval_on_selector_all(".live[data-view]", "all => all.map(one => one.dataset.view)")
        expected = PICTURES if n_topics > 1 else {"time"}
        assert set(shown) == expected
        assert seen.page.locator(".live .view-stage").count() == len(expected)
        assert seen.page.locator("article.topic").count() == n_topics
        assert seen.page.evaluate("window.hacked") is None
        seen.check()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_nothing_hangs_out_of_the_page_and_axe_finds_nothing_serious(browser, reports, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    options = {"viewport": {"width": width, "height": 844}, "color_scheme": scheme, "bypass_csp": True}
    with opened(browser, reports[2], **options) as seen:
        drawn(seen.page, reports[2])
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(seen.page).response["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        told = [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in serious]
        assert told == []
        seen.check()


def test_the_button_turns_light_into_dark(browser, reports):
    with opened(browser, reports[2], color_scheme="light") as seen:
        drawn(seen.page, reports[2])
        paper = "getComputedStyle(document.body).backgroundColor"
        before = seen.page.evaluate(paper)
        seen.page.click("#scheme")
        assert seen.page.evaluate(paper) != before
        seen.check()


def test_search_finds_topics_and_documents(browser, reports):
    with opened(browser, reports[200]) as seen:
        page = seen.page
        drawn(page, reports[200])
        page.keyboard.press("/")
        page.keyboard.type("title 17")
        assert "Document" in page.locator("#results li").first.text_content()
        word = page.locator("article.topic .bars bdi").first.text_content()
        page.fill("#query", word)
        assert page.locator("#found").text_content().startswith(("Showing 30 of", *map(str, range(1, 31))))
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert page.evaluate("location.hash").startswith(("#topic-", "#theme-"))
        assert page.locator("#results").is_hidden()
        page.fill("#query", "zzz nothing")
        assert "Nothing here has" in page.locator("#found").text_content()
        page.keyboard.press("Escape")
        assert page.locator("#results").is_hidden()
        seen.check()


def test_search_takes_hostile_texts_as_texts(browser, reports):
    with opened(browser, reports[30]) as seen:
        drawn(seen.page, reports[30])
        for query in ("<script>", "onerror", "[31m", "(((", "\\"):
            seen.page.fill("#query", query)
        seen.page.fill("#query", "hacked")
        assert "window.hacked" in seen.page.locator("#results").text_content()
        assert seen.page.evaluate("window.hacked") is None
        seen.check()


def test_a_link_to_a_topic_leads_to_its_card(browser, reports):
    content = made_up(200)
    last = content["topics"][-1]["id"]
    with opened(browser, reports[200]) as seen:
        drawn(seen.page, f"{reports[200]}#topic-{last}")
        seen.page.wait_for_function(
            f"Math.abs(document.getElementById('topic-{last}').getBoundingClientRect().top - 68) < 200"
        )
        seen.check()


def test_what_is_selected_in_a_picture_is_told(browser, reports):
    with opened(browser, reports[2]) as seen:
        drawn(seen.page, reports[2])
        stage = seen.page.locator("[data-view=map] .view-stage")
        stage.focus()
        seen.page.keyboard.press("ArrowRight")
        seen.page.keyboard.press("Enter")
        assert "of all words" in seen.page.locator("#selected").text_content()
        seen.page.click("#selected a")
        assert seen.page.evaluate("location.hash").startswith(("#topic-", "#theme-"))
        seen.page.click("#selected button")
        assert seen.page.locator("#selected").is_hidden()
        seen.check()


def test_trends_of_the_topics_of_a_theme_can_be_chosen(browser, reports):
    with opened(browser, reports[30]) as seen:
        drawn(seen.page, reports[30])
        seen.page.select_option("[data-view=time] select", "1")
        seen.check()


def test_a_report_can_be_read_without_scripts(browser, reports):
    with opened(browser, reports[30], java_script_enabled=False) as seen:
        seen.page.goto(reports[30])
        assert seen.page.locator(".still-map circle").count() == 30
        assert seen.page.locator(".still-map").is_visible() and seen.page.locator(".trend-table").is_visible()
        assert seen.page.locator("article.topic").first.is_visible()
        assert seen.page.locator("#query").is_hidden()
        seen.check()


def test_paper_has_still_pictures_and_no_buttons(browser, reports):
    with opened(browser, reports[30]) as seen:
        page = seen.page
        drawn(page, reports[30])
        page.emulate_media(media="print")
        assert page.locator(".still-map").is_visible() and page.locator(".still-matrix").is_visible()
        for hidden in (".top", "#selected", "[data-view=map]", ".view-tools"):
            assert not page.locator(hidden).first.is_visible()
        assert len(page.pdf(format="A4")) > 10_000
        seen.check()
