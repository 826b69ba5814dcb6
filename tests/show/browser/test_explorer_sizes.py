"""From one topic to 800: every view opens, says what it leaves out, and stays quick."""

import handmade
import numpy as np
import pytest
from explorers import served, settle, until

from diln.analysis import Atlas

VIEWS = ["map", "matrix", "network", "trends", "topics", "documents", "read", "training"]


def many_topics(n: int) -> Atlas:
    """A model of so many topics in some groups; topics with less than one word in 500 are not in use."""
    rng = np.random.default_rng(n)
    topic_word = rng.dirichlet(np.full(max(40, 3 * n), 0.05), n) + 1e-9
    centres = 1.5 * rng.standard_normal((min(n, 7), 4))
    locations = centres[np.arange(n) % len(centres)] + 0.4 * rng.standard_normal((n, 4))
    tokens = np.where(np.arange(n) < 440, rng.uniform(0.9, 1.1, n), 1e-3)
    return Atlas(handmade.model(topic_word, tokens, locations=locations))


@pytest.mark.parametrize("n", [1, 2, 30, 200, 800])
def test_every_view_opens_with_so_many_topics(looking, n):
    atlas = many_topics(n)
    shown = len(atlas.topics())
    assert shown == min(n, 440)
    with served(atlas) as explorer:
        page = looking("view=map", at=explorer.address).page
        for view in VIEWS:
            page.locator(f"[data-view={view}]").click()
            settle(page)
            assert page.locator("#view h2").first.is_visible()
            assert page.locator("#view [role=alert]").count() == 0
        page.locator("[data-view=topics]").click()
        until(page, f"document.querySelectorAll('.topics li').length == {shown}")
        page.keyboard.press("n")
        page.wait_for_selector("#card .edit-tools")
        page.locator("[data-view=matrix]").click()
        settle(page)
        said = page.locator("#view").inner_text()
        assert "at least two topics" in said if n == 1 else "Each cell" in said
        if n > 50:
            assert f"Showing the 50 largest of {shown} topics" in said
        page.locator("[data-view=map]").click()
        settle(page)
        begun = page.evaluate("performance.now()")
        page.keyboard.press("n")
        until(page, "new URLSearchParams(location.search).has('topic')")
        assert page.evaluate("performance.now()") - begun < 20_000


def test_a_model_without_documents_says_what_is_missing(looking):
    with served(many_topics(30)) as explorer:
        page = looking("view=documents", at=explorer.address).page
        page.wait_for_selector("#view >> text=--corpus")
        page.locator("[data-view=trends]").click()
        page.wait_for_selector("text=neither dates nor labels")
