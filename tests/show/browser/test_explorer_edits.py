"""Changes of topics in the page: said while they are saved, refused in a sentence, and followed everywhere."""

import json
import re
from urllib.request import Request, urlopen

import handmade
import numpy as np
import pytest
from explorers import PHONE, served, settle, state, until

from diln.analysis import Atlas

COLOUR = re.compile(r"var\(--theme-\d+\)")


def card(page):
    return page.locator("#card .side-body")


def asked(page, path):
    return page.evaluate("(path) => fetch(`/api/${path}`).then((reply) => reply.json())", path)


@pytest.fixture
def changing(looking, explorer):
    """Opens a view; at the end all changes are taken back."""
    every = []

    def look(query, **options):
        every.append(looking(query, **options))
        settle(every[-1].page)
        return every[-1].page

    yield look
    for seen in every:
        seen.errors[:] = [error for error in seen.errors if "409" not in error]  # that a test has asked for
    edits = f"{explorer.address}api/edits"  # not by the page, whose requests may still be held back
    while json.load(urlopen(edits, timeout=60))["changes"]:
        undo = Request(edits, b'{"action": "undo"}', {"Content-Type": "application/json"})
        urlopen(undo, timeout=60).close()


def held(page):
    """Keeps changes on their way to the server until they are let through."""
    routes = []
    page.route(
        "**/api/edits", lambda route: routes.append(route) if route.request.method == "POST" else route.continue_()
    )
    return routes


def await_change(page, routes):
    """Wait for a change to be on its way."""
    for _ in range(1200):
        if routes:
            return
        page.wait_for_timeout(50)


@pytest.mark.parametrize("action", ["Hide", "Rename", "Merge", "Undo"])
def test_a_change_is_said_to_be_saving_and_nothing_else_can_be_changed_meanwhile(changing, action):
    page = changing("view=topics&topic=0")
    if action == "Undo":
        card(page).get_by_role("button", name="Hide").click()
        page.wait_for_selector(".saving[data-kind=done]")
        settle(page)
    routes = held(page)
    card(page).get_by_role("button", name=action, exact=True).click()
    if action == "Rename":
        card(page).get_by_role("textbox", name="New name").fill("Mine")
        page.keyboard.press("Enter")
    if action == "Merge":
        card(page).locator(".options [role=option]").first.click()
        card(page).locator(".edit-form button", has_text="Merge").click()
    page.wait_for_selector(".saving[data-kind=busy] >> text=Saving")
    buttons = "[...document.querySelectorAll('.edits button, .edits input, [data-undo], [data-show]')]"
    assert page.evaluate(f"{buttons}.length") > 0
    assert page.evaluate(f"{buttons}.every((one) => one.disabled)")
    page.keyboard.press("u")
    await_change(page, routes)
    page.wait_for_timeout(50)  # in which a second would come
    assert len(routes) == 1, "one change at a time"
    routes[0].continue_()
    page.wait_for_selector(".saving[data-kind=done] >> text=Saved")
    settle(page)
    assert page.evaluate(f"{buttons}.some((one) => !one.disabled)") or action == "Undo"
    page.locator(".saving").wait_for(state="hidden")


def test_a_change_that_is_not_saved_says_why_and_changes_nothing(changing):
    page = changing("view=topics&topic=0")
    shown = page.locator(".topics li").count()
    why = "the change could not be kept: the folder of the model is read-only"
    page.route("**/api/edits", lambda route: route.fulfill(status=409, json={"error": why})
               if route.request.method == "POST" else route.continue_())  # fmt: skip
    for press in (lambda: card(page).get_by_role("button", name="Hide").click(), lambda: page.keyboard.press("u")):
        press()
    page.wait_for_selector(f".saving[data-kind=fault] >> text={why}")
    assert page.locator(".topics li").count() == shown
    assert card(page).get_by_role("button", name="Hide").is_enabled()
    assert card(page).locator("[data-undo]").is_disabled(), "there was nothing to undo, and there is nothing now"
    page.locator(".saving").get_by_role("button", name="Close").click()
    assert page.locator(".saving").is_hidden()


def test_the_count_in_the_header_follows(changing):
    page = changing("view=topics&topic=0")
    total = len(asked(page, "topics"))
    header = page.locator("#header .brand p")
    assert f"{total} topics" in header.inner_text()
    card(page).get_by_role("button", name="Hide").click()
    until(page, f"document.querySelector('#header .brand p').textContent.includes('{total - 1} topics')")
    card(page).locator("[data-undo]").click()
    until(page, f"document.querySelector('#header .brand p').textContent.includes('{total} topics')")


def test_the_topic_to_merge_is_found_by_its_words_its_name_or_its_number(changing):
    page = changing("view=topics&topic=0")
    topics = {one["id"]: one for one in asked(page, "topics")}
    other = next(one for number, one in topics.items() if number != 0)
    others = page.locator("#card .options [role=option]")
    card(page).get_by_role("button", name="Merge").click()
    field = card(page).get_by_role("combobox", name="Topic to merge into this one")
    merge = card(page).locator(".edit-form button.primary")
    assert merge.is_disabled(), "nothing is chosen yet"
    assert others.count() == len(asked(page, "names")) - 1
    for typed in (other["telling"][0], other["label"].upper(), str(other["id"])):
        field.fill(typed)
        until(page, f"document.querySelector('#card .options [role=option]')?.dataset.topic == '{other['id']}'")
    field.fill("nosuchword")
    page.wait_for_selector("#card .options >> text=No topic has")
    field.fill(str(other["id"]))
    until(page, "document.querySelectorAll('#card .options [role=option]').length == 1")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert field.input_value() == other["label"]
    assert merge.is_enabled()
    page.keyboard.press("Enter")
    page.wait_for_selector("#card dt >> text=merged in")
    assert asked(page, "edits")["merges"] == [[0, other["id"]]]


def small_topics() -> Atlas:
    """Three topics that are listed, two that are too small for it, and words that are theirs alone."""
    rng = np.random.default_rng(0)
    words = 0.001 + np.repeat(np.eye(5), 6, axis=1) * rng.uniform(0.5, 1, 30)
    terms = [f"word{at}" for at in range(30)]
    terms[18:21] = ["devos", "travel", "ban"]
    return Atlas(handmade.model(words, [9000, 8000, 7000, 40, 30], terms, rng.standard_normal((5, 3))))


@pytest.mark.parametrize("query", ["devos", "Travel BAN", "dev"])
def test_a_search_finds_the_topics_whose_words_these_are_listed_or_not(looking, query):
    with served(small_topics()) as explorer:
        page = looking("view=topics", at=explorer.address).page
        assert page.locator(".topics li").count() == 3
        page.locator("#search").fill(query)
        page.wait_for_selector("#found [role=option]")
        first = page.locator("#found [role=option]").first
        assert first.locator(".kind").inner_text() == "topic 3"
        assert first.locator(".unlisted").inner_text() == "not listed"
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert state(page)["topic"] == "3"
        page.wait_for_selector("#card >> text=Not listed: it holds less than one word in 500")
        assert page.locator("#card h2").inner_text() == asked(page, "names")["3"]


def test_a_hidden_topic_is_found_by_its_words_and_shown_again_from_its_card(changing):
    page = changing("view=topics&topic=1")
    word = asked(page, "topics/1")["telling"][0]
    name = asked(page, "topics/1")["label"]
    card(page).get_by_role("button", name="Hide").click()
    page.wait_for_selector("#card .hidden-topics")
    assert name in card(page).locator(".hidden-topics").inner_text(), "a topic is told by its name"
    page.locator("#search").fill(word)
    page.locator("#found [role=option]", has_text="topic 1").locator(".unlisted", has_text="hidden").wait_for()
    page.locator("#found [role=option]", has_text="topic 1").click()
    page.wait_for_selector("#card >> text=Hidden: it is in no list")
    assert name in page.locator("#chips").inner_text()
    card(page).get_by_role("button", name="Show", exact=True).click()
    until(page, "document.querySelector('.topics [data-topic=\"1\"]')")
    assert state(page)["topic"] == "1", "the card stays"
    card(page).get_by_role("button", name="Hide").wait_for()


def test_documents_of_a_theme_are_in_the_order_of_its_share(looking):
    page = looking("view=documents&theme=0").page
    settle(page)
    shares = [int(found) for found in re.findall(r"(\d+)% of what is selected", page.locator(".results").inner_text())]
    assert len(shares) == page.locator(".results .doc").count() > 5
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > shares[-1]
    listed = asked(page, "documents?theme=0&n=200")
    whole = [one["share"] for one in listed["documents"]]
    assert whole == sorted(whole, reverse=True)
    assert {one["theme"] for one in listed["documents"]} == {0}


def colours(page):
    """The colour of each topic in the list."""
    found = page.evaluate("""() => [...document.querySelectorAll('.topics .topic-line')].map((row) => [
      row.querySelector('.topic-link').dataset.topic, row.querySelector('.bar span').style.background])""")
    return {topic: COLOUR.search(colour).group() for topic, colour in found}


def test_colours_of_themes_stay_when_a_topic_is_hidden_or_merged(changing):
    page = changing("view=topics")
    before = colours(page)
    assert len(set(before.values())) > 2
    for topic in before:
        page.goto(f"{page.url.split('?')[0]}?view=topics&topic={topic}")
        page.wait_for_selector("#card .edit-tools")
        card(page).get_by_role("button", name="Hide").click()
        until(page, f"document.querySelectorAll('.topics li').length == {len(before) - 1}")
        settle(page)
        assert colours(page) == {other: colour for other, colour in before.items() if other != topic}
        page.keyboard.press("u")
        until(page, f"document.querySelectorAll('.topics li').length == {len(before)}")
        settle(page)
    assert colours(page) == before


def test_a_text_has_the_letters_colours_and_names_of_themes(changing):
    page = changing("view=read")
    page.locator("#text").fill(
        "The judge and the court. A striker scored a goal in the stadium. The bank and its loan."
    )
    page.wait_for_selector(".legend li")
    settle(page)
    themes = {one["id"]: one for one in asked(page, "themes")["themes"]}
    home = {topic: theme for theme, one in themes.items() for topic in one["topics"]}
    rows = page.evaluate("""() => [...document.querySelectorAll('.legend li')].map((row) => {
      const [key, link] = [row.querySelector('.key'), row.querySelector('.topic-link')];
      const [tone, stroke] = ['--tone', '--stroke'].map((name) => key.style.getPropertyValue(name));
      return [Number(link.dataset.topic), key.textContent, tone, stroke];
    })""")
    assert len(rows) > 1
    for topic, letter, tone, _ in rows:
        if topic in home:
            assert letter == chr(65 + home[topic])
            assert tone == f"var(--theme-{home[topic]})"
        else:
            assert (letter, tone) == ("–", "var(--none)")
    lines = [(home.get(topic), line) for topic, _, _, line in rows]
    assert len(set(lines)) == len(lines), "topics of one theme differ by their lines"
    told = page.locator(".legend-themes").inner_text()
    for topic in {topic for topic, *_ in rows} & set(home):
        assert themes[home[topic]]["label"] in told
    on_words = page.evaluate("""() => [...document.querySelectorAll('.coloured .word')].map((word) => [
      Number(word.dataset.topic), word.style.getPropertyValue('--tone')])""")
    tones = {topic: tone for topic, _, tone, _ in rows}
    assert on_words
    assert all(tone == tones[topic] for topic, tone in on_words if topic in tones)


def test_the_field_for_a_topic_fits_a_phone(changing):
    page = changing("view=topics&topic=0", viewport=PHONE)
    page.locator(".grip").click()
    card(page).get_by_role("button", name="Merge").click()
    page.locator("#card .options").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = page.locator("#card .options").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]
