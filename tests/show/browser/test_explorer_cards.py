"""The card of a topic, and what can be changed there."""

import re

from explorers import settle, state, until


def card(page):
    return page.locator("#card .side-body")


def test_a_topic_card_has_all_that_is_known(looking):
    page = looking("view=topics&topic=0").page
    card(page).locator("h3", has_text="Typical documents").wait_for()
    text = card(page).inner_text()
    assert "of all words" in text
    assert re.search(r"chains found it\n[12] of 2", text)
    for part in ("Words", "Over time", "Goes with, and avoids", "By label", "Typical documents"):
        assert part in text
    assert card(page).locator("blockquote.doc-text").count() >= 1, "typical documents have telling sentences"
    assert card(page).locator(".spark figcaption").inner_text().startswith("From ")


def test_the_relevance_slider_brings_other_words(looking):
    page = looking("view=topics&topic=0").page
    slider = page.locator("#relevance")
    slider.wait_for()
    before = page.locator(".words a").all_inner_texts()
    slider.focus()
    with page.expect_response(lambda reply: "relevance=0" in reply.url):
        page.keyboard.press("Home")
    until(page, f"[...document.querySelectorAll('.words a')].map((a) => a.textContent).join() != '{','.join(before)}'")
    assert slider.get_attribute("aria-valuetext").startswith("0.0, words that are telling")
    page.locator(".words a").first.click()
    assert "word" in state(page)


def test_a_friend_says_how_often_and_how_sure(looking):
    page = looking("view=topics&topic=0").page
    card(page).locator("h3", has_text="Goes with").wait_for()
    text = card(page).locator("section", has_text="Goes with, and avoids").inner_text()
    found = re.findall(r"together [\d.,]+ times (?:as often as|more rarely than) by chance, (sure|not sure)", text)
    assert found or "surely" in text


def test_rename_merge_hide_and_undo_are_kept(looking, explorer):
    page = looking("view=topics&topic=0").page
    total = page.locator(".topics li").count()
    card(page).get_by_role("button", name="Rename").click()
    card(page).get_by_role("textbox", name="New name").fill("Law <b>and</b> order")
    page.keyboard.press("Enter")
    page.wait_for_selector("#card h2 >> text=Law <b>and</b> order")
    assert page.evaluate("document.activeElement.id") == "card"
    assert page.locator(".topics .topic-link", has_text="Law <b>and</b> order").count() == 1
    page.reload()
    page.wait_for_selector("#card h2 >> text=Law <b>and</b> order")
    assert (explorer.model / "edits.json").exists()

    card(page).get_by_role("button", name="Merge").click()
    card(page).get_by_role("combobox").fill("1")
    card(page).locator(".options [data-topic='1']").click()
    card(page).locator(".edit-form button", has_text="Merge").click()
    until(page, f"document.querySelectorAll('.topics li').length == {total - 1}")
    card(page).locator("dt", has_text="merged in").wait_for()

    page.keyboard.press("u")
    until(page, f"document.querySelectorAll('.topics li').length == {total}")
    card(page).get_by_role("button", name="Hide").click()
    until(page, f"document.querySelectorAll('.topics li').length == {total - 1}")
    assert "topic" not in state(page)
    card(page).get_by_role("button", name="Show topic 0").click()
    until(page, f"document.querySelectorAll('.topics li').length == {total}")

    for left in (2, 1, 0):  # the hiding is taken back and done again: its card goes, and the way back stays
        card(page).locator("[data-undo]").click()
        until(page, f"fetch('/api/edits').then((r) => r.json()).then((e) => e.changes.length == {left})")
        settle(page)
    until(page, "!document.querySelector('[data-undo]:not(:disabled)')")
    page.locator(".topics .topic-link", has_text="<b>").wait_for(state="detached")


def test_a_change_that_is_refused_says_why(looking):
    seen = looking("view=topics&topic=0")
    page = seen.page
    card(page).get_by_role("button", name="Rename").click()
    box = card(page).get_by_role("textbox", name="New name")
    box.evaluate("node => node.removeAttribute('maxlength')")
    box.fill("x" * 300)
    page.keyboard.press("Enter")
    card(page).locator(".edit-form .error", has_text=re.compile(r"\w+ \w+")).wait_for()
    seen.errors.clear()  # the browser tells of a reply with status 4xx


def test_a_label_card_and_a_word_card_lead_on(looking):
    seen = looking("view=topics&label=sport&card=label")
    page = seen.page
    page.wait_for_selector("#card >> text=More common here than elsewhere")
    card(page).locator(".shares .topic-link").first.click()
    assert state(page)["label"] == "sport" and "topic" in state(page)
    page.goto(page.url.split("?")[0] + "?view=topics&word=nosuchword")
    page.wait_for_selector("#card >> text=does not know this word")
    seen.errors.clear()  # the browser tells of a reply with status 404


def test_pairs_say_how_often_and_how_sure(looking):
    page = looking("view=topics").page

    def known(route):
        reply = route.fetch()
        pair = {"first": 0, "correlation": 0.5, "spread": 0.1, "low": None, "high": None, "n_chains": None}
        friend = {**pair, "second": 1, "lift": 4.1, "log_lift": 1.41, "sure": True}
        rival = {**pair, "second": 2, "lift": 0.25, "log_lift": -1.39, "sure": None}
        route.fulfill(response=reply, json={**reply.json(), "friends": [friend], "rivals": [rival]})

    page.route("**/api/topics/0", known)
    page.locator(".topics [data-topic='0']").click()
    card(page).locator(".friend", has_text="together 4.1 times as often as by chance, sure").wait_for()
    card(page).locator(
        ".rival", has_text="together 4.0 times more rarely than by chance, how sure is unknown"
    ).wait_for()
    card(page).locator(".friend a", has_text="Documents with both").click()
    assert state(page)["topic"] == "0" and state(page)["other"] == "1"
