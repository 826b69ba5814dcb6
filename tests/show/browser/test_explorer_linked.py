"""What is chosen in one place holds everywhere, and in the address."""

import newsroom
from explorers import DESKTOP, served, settle, state, until


def test_a_topic_chosen_in_the_list_is_followed_by_every_view(looking):
    page = looking("view=topics").page
    page.locator(".topics .topic-link").nth(1).click()
    topic = state(page)["topic"]
    page.wait_for_selector(f"#card >> text=Topic {topic}")
    assert page.locator("[data-chip=topic]").is_visible()
    for view in ["map", "matrix", "network", "trends", "documents"]:
        page.locator(f"[data-view={view}]").click()
        settle(page)
        assert state(page)["topic"] == topic
        assert page.locator(f"#card >> text=Topic {topic}").first.is_visible()
    assert page.locator("select[aria-label=Topic]").input_value() == topic


def test_back_and_forward_go_through_what_was_chosen(looking):
    page = looking("view=topics").page
    page.locator(".topics .topic-link").nth(0).click()
    first = state(page)["topic"]
    page.locator("[data-view=map]").click()
    page.go_back()
    assert state(page) == {"view": "topics", "topic": first, "card": "topic"}
    page.wait_for_selector(".topics li[aria-current]")
    page.go_back()
    page.wait_for_selector("#card .eyebrow >> text=The corpus")
    assert "topic" not in state(page)
    page.go_forward()
    page.wait_for_selector(f"#card >> text=Topic {first}")


def test_a_link_shows_another_what_one_sees(looking):
    page = looking("view=documents&label=sport&topic=1&since=2023-06-01&until=2024-03-01").page
    assert page.locator(".chip").count() == 4
    until(page, "document.querySelector('select[aria-label=Label]').value == 'sport'")
    settle(page)
    dates = page.locator(".results .doc-about").all_inner_texts()
    assert dates and all("2023-06-01" <= text[:10] <= "2024-03-01" for text in dates)


def test_nonsense_in_the_address_is_left_out(looking):
    page = looking("view=nothing&topic=-3&theme=abc&document=1e9&themes=x").page
    assert page.locator("[data-view=map][aria-current]").count() == 1
    assert page.locator(".chip").count() == 0


def test_chips_are_taken_off_one_by_one_or_all_at_once(looking):
    page = looking("view=topics&topic=0&label=sport&word=goal").page
    page.locator("[data-chip=word]").click()
    assert "word" not in state(page)
    page.get_by_role("button", name="Clear all").click()
    assert state(page) == {"view": "topics"}
    assert page.locator("#chips").is_hidden()


def test_a_word_shows_its_topics_everywhere(looking):
    page = looking("view=topics").page
    page.locator("#card .eyebrow", has_text="The corpus").wait_for()
    total = page.locator(".topics li").count()
    page.locator(".word-line .word-link", has_text="goal").first.click()
    page.wait_for_selector("#card >> text=Topics that use it")
    until(page, f"document.querySelectorAll('.topics li').length < {total}")
    assert "Showing" in page.locator("#view .note").first.inner_text()
    page.locator("[data-view=documents]").click()
    settle(page)
    assert "goal" in page.locator(".results mark").first.inner_text().lower()


def test_a_theme_shows_its_topics_words_and_documents(looking):
    page = looking("view=topics").page
    page.locator("#card .theme-link").first.click()
    page.wait_for_selector("#card >> text=Theme A, one of")
    theme = state(page)["theme"]
    assert page.locator("#card .shares li").count() >= 1
    assert page.locator("#card .word-cloud a").count() >= 3
    assert page.locator("#card .doc").count() >= 1
    assert page.locator("#card .spark").count() == 1
    shown = page.locator("#view .theme-block").count()
    assert shown == 1
    page.locator("[data-view=documents]").click()
    assert state(page)["theme"] == theme


def test_the_number_of_themes_can_be_changed_and_is_in_the_address(looking):
    page = looking("view=topics").page
    before = page.locator(".theme-block").count()
    page.get_by_role("button", name="Fewer themes" if before > 2 else "More themes").click()
    wanted = before - 1 if before > 2 else before + 1
    until(page, f"document.querySelectorAll('.theme-block').length == {wanted}")
    assert state(page)["themes"] == str(wanted)
    page.get_by_role("button", name="auto").click()
    until(page, f"document.querySelectorAll('.theme-block').length == {before}")


def test_a_label_is_followed(looking):
    page = looking("view=trends&topic=0").page
    page.locator("#card .label-link").first.click()
    label = state(page)["label"]
    page.wait_for_selector("#card >> text=More common here")
    page.locator("[data-view=documents]").click()
    settle(page)
    assert all(label in text for text in page.locator(".results .doc-about").all_inner_texts())


def test_labels_are_held_constant_or_shown_alone(looking):
    page = looking("view=trends&granularity=quarter").page
    settle(page)
    choice = page.locator("label.choice", has_text="Labels").locator("select")
    choice.select_option("constant")
    until(page, "document.querySelector('.under').textContent.includes('the same mix of labels')")
    assert state(page)["mix"] == "constant"
    choice.select_option("each")
    page.wait_for_selector(".part-title")
    settle(page)
    titles = page.locator(".part-title").all_inner_texts()
    assert len(titles) > 1
    assert page.locator(".drawing").first.locator(".view-stage").count() == len(titles)
    page.get_by_role("button", name="As a table").first.click()
    assert page.locator(".twin table").count() == len(titles)


def test_a_shift_of_labels_is_warned_of_with_what_to_do(browser):
    with served(newsroom.uneven()) as explorer:
        page = browser.new_page(viewport=DESKTOP)
        page.goto(f"{explorer.address}?view=trends&by=theme&granularity=quarter")
        page.wait_for_selector(".warning")
        assert "The mix of labels changes over time" in page.locator(".warning").inner_text()
        page.locator(".warning a").first.click()
        until(page, "new URLSearchParams(location.search).get('mix') === 'constant'")
        page.wait_for_selector(".warning", state="detached")
        assert page.locator("label.choice", has_text="Labels").locator("select").input_value() == "constant"
        page.close()


def test_the_search_box_finds_topics_words_and_documents(looking):
    page = looking("view=map").page
    page.keyboard.press("/")
    box = page.locator("#search")
    assert box.evaluate("node => node === document.activeElement")
    box.fill("goal")
    page.wait_for_selector("#found [role=option]")
    kinds = page.locator("#found .kind").all_inner_texts()
    assert {"word", "document", "documents"} <= set(kinds)
    assert any(kind.startswith("topic") for kind in kinds)
    page.keyboard.press("ArrowDown")
    assert box.get_attribute("aria-activedescendant") == "found-0"
    page.keyboard.press("Enter")
    assert {"topic", "theme"} & set(state(page))
    assert page.evaluate("document.activeElement.id") == "card"


def test_keys_reach_everything(looking):
    page = looking("view=map").page
    page.keyboard.press("?")
    assert page.locator("dialog[open]").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    page.keyboard.press("5")
    page.wait_for_selector("[data-view=topics][aria-current]")
    page.keyboard.press("n")
    first = state(page)["topic"]
    page.keyboard.press("n")
    assert state(page)["topic"] != first
    page.keyboard.press("p")
    assert state(page)["topic"] == first
    page.keyboard.press("c")
    assert page.evaluate("document.activeElement.id") == "card"
    page.keyboard.press("Escape")
    assert "topic" not in state(page)
    page.keyboard.press("v")
    assert page.evaluate("document.activeElement.id") == "view"


def test_the_skip_link_comes_first(looking):
    page = looking("view=topics").page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "view"


def test_arrow_keys_choose_a_topic_on_the_map(looking):
    page = looking("view=map").page
    settle(page)
    page.locator(".view-stage").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    until(page, "new URLSearchParams(location.search).has('topic')")
    page.wait_for_selector("#card >> text=Words")


def test_changes_are_told_to_screen_readers(looking):
    page = looking("view=topics").page
    page.locator(".topics .topic-link").first.click()
    until(page, "document.getElementById('live').textContent.startsWith('Selected: topic')")


def test_zooming_in_brings_documents_with_their_titles(looking):
    page = looking("view=map").page
    settle(page)
    titles = (
        "[...document.querySelectorAll('#view svg text')].filter((one) => / report \\d+$/.test(one.textContent)).length"
    )
    for circle in page.locator("#view svg circle").all()[:6]:  # about each of the topics, until documents are met
        box = circle.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        with page.expect_response(lambda reply: "map/documents" in reply.url and "x0=" in reply.url):
            for _ in range(5):
                page.mouse.wheel(0, -300)
        for _ in range(20):
            page.wait_for_timeout(100)
            if page.evaluate(titles):
                return
        page.get_by_role("button", name="Show all").click()
    raise AssertionError("no document bears its title, however deep one looks")


def test_a_span_of_time_is_chosen_by_keys_and_holds_everywhere(looking):
    page = looking("view=trends").page
    settle(page)
    page.locator(".view-stage").first.focus()
    for key in ["ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "Enter"]:
        page.keyboard.press(key)
    until(page, "new URLSearchParams(location.search).has('since')")
    span = state(page)
    assert page.locator("[data-chip=time]").is_visible()
    page.locator("[data-view=documents]").click()
    settle(page)
    page.wait_for_selector(".results .doc-about")
    dates = [text[:10] for text in page.locator(".results .doc-about").all_inner_texts()]
    assert dates, span
    assert all(span["since"] <= day <= span["until"] for day in dates)


def test_a_pair_is_chosen_in_the_matrix(looking):
    page = looking("view=matrix").page
    settle(page)
    page.locator(".view-stage").first.focus()
    for key in ["ArrowRight", "ArrowRight", "Enter"]:
        page.keyboard.press(key)
    until(page, "new URLSearchParams(location.search).has('other')")
    page.locator("#card .pair-box", has_text="Together with").wait_for()
