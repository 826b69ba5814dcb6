"""Every view can be taken away, and a view that fails says so."""

import pytest
from explorers import settle


@pytest.mark.parametrize("view", ["map", "matrix", "trends", "topics"])
def test_a_view_is_exported(looking, view):
    page = looking(f"view={view}").page
    settle(page)
    page.wait_for_timeout(100)
    for kind in ["svg", "png", "csv"] if view != "topics" else ["csv"]:
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as told:
            page.locator(f"#exports [data-export={kind}]").click()
        data = told.value.path().read_bytes()
        begins = {"svg": b"<?xml", "png": b"\x89PNG", "csv": "\ufeff".encode()}[kind]
        assert data.startswith(begins), kind
        assert len(data) > 300
        assert told.value.suggested_filename == f"diln-{view}.{kind}"


def test_the_menu_closes_by_escape_and_gives_the_focus_back(looking):
    page = looking("view=topics").page
    page.get_by_role("button", name="Export").click()
    page.keyboard.press("Escape")
    assert page.locator("#exports").is_hidden()
    assert page.evaluate("document.activeElement.textContent") == "Export"


def test_a_failure_is_told_and_can_be_tried_again(looking):
    seen = looking("view=topics")
    page = seen.page
    answers = {"status": 503, "body": '{"error": "the server is busy"}', "content_type": "application/json"}
    page.route("**/api/matrix*", lambda route: route.fulfill(**answers) if answers else route.continue_())
    page.locator("[data-view=matrix]").click()
    page.wait_for_selector("#view [role=alert] >> text=the server is busy")
    answers.clear()  # the server is free
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector("#view .view-stage")
    page.route("**/api/documents*", lambda route: route.abort())
    page.locator("[data-view=documents]").click()
    page.wait_for_selector("#view [role=alert] >> text=The server does not answer")
    seen.errors.clear()


def test_an_unknown_topic_is_told(looking):
    seen = looking("view=topics&topic=99")
    seen.page.wait_for_selector("#card [role=alert]")
    seen.errors.clear()
