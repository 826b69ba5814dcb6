"""Documents: search, filters, pages, one text, and texts of one's own."""

import re

from explorers import settle, state, until

TEXT = "The judge heard the lawyer and the witness before the verdict. The jury sent him to prison. " * 30


def test_words_are_searched_for_and_marked(looking):
    page = looking("view=documents").page
    settle(page)
    assert "Showing 1 to 20 of 300 documents" in page.locator(".results").inner_text()
    page.locator("#q").fill("striker")
    until(page, "!!document.querySelector('.results mark')")
    assert state(page)["q"] == "striker"
    assert {text.lower() for text in page.locator(".results mark").all_inner_texts()} == {"striker"}
    page.locator("#q").fill("xyzzy")
    page.wait_for_selector("text=No document fits")


def test_filters_join_and_pages_turn(looking):
    page = looking("view=documents").page
    page.locator("select[aria-label=Label]").select_option("sport")
    settle(page)
    first = page.locator(".results .doc-title").first.inner_text()
    page.get_by_role("button", name="Next").click()
    until(page, f"document.querySelector('.results .doc-title').textContent != {first!r}")
    assert state(page)["offset"] == "20"
    page.locator("[aria-label='From this day']").fill("2024-06-01")
    settle(page)
    assert "offset" not in state(page), "another selection begins with its first page"
    abouts = page.locator(".results .doc-about").all_inner_texts()
    assert abouts and all("sport" in text and text[:10] >= "2024-06-01" for text in abouts)


def test_a_text_shows_the_topic_of_each_word(looking):
    page = looking("view=documents&topic=0&other=1").page
    page.locator(".results .doc-title").first.click()
    page.wait_for_selector(".coloured .word")
    assert "document" in state(page)
    assert page.locator(".legend li").count() >= 1
    assert page.locator(".coloured .word.same").count() >= 1, "words of the topic that is chosen stand out"
    lines = page.evaluate(
        "[...document.querySelectorAll('.coloured .word')].map((w) => getComputedStyle(w).textDecorationLine)"
    )
    assert set(lines) == {"underline"}, "never by colour alone"
    page.locator(".coloured").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".word.at").count() == 1
    assert "topic" in page.locator(".word-tip").inner_text()
    for _ in range(50):
        if page.locator(".word.at").get_attribute("data-topic") != "0":
            break
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    chosen = page.locator(".word.at").get_attribute("data-topic")
    assert state(page)["topic"] == chosen != "0"
    assert page.locator(f".word.same[data-topic='{chosen}']").count() >= 1, "the text stays open and follows"
    page.get_by_role("button", name="Colour words").click()
    assert not page.locator(".coloured.on").count()
    page.get_by_role("heading", name="Similar documents").wait_for()
    assert page.locator(".reader .docs .doc").count() >= 3
    page.get_by_role("link", name="Its place on the map").click()
    settle(page)
    assert page.locator("[data-chip=document]").is_visible()
    page.locator("#view text", has_text="the open document").wait_for()
    page.locator("[data-view=documents]").click()
    page.get_by_role("button", name="Back to the list").click()
    assert "document" not in state(page)
    page.locator(".results .doc").first.wait_for()


def test_the_selected_documents_are_exported_as_a_list(looking):
    page = looking("view=documents&label=sport").page
    settle(page)
    total = int(re.search(r"of ([\d,]+) documents", page.locator(".results").inner_text()).group(1).replace(",", ""))
    with page.expect_download() as told:
        page.locator("#view [data-export=documents]").click()
    lines = told.value.path().read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("row,id,title,date,label")
    assert len(lines) == total + 1


def test_documents_with_both_topics_of_a_pair(looking):
    page = looking("view=documents&topic=0&other=1").page
    settle(page)
    assert page.locator("[data-chip='with topic']").is_visible()
    assert page.locator(".results .doc").count() > 0
    page.locator("[data-chip='with topic']").click()
    assert "other" not in state(page)


def test_a_text_of_ones_own_is_read_at_once(looking):
    page = looking("view=read").page
    area = page.locator("#text")
    area.fill(TEXT)
    page.wait_for_selector(".coloured .word")
    until(page, "/^Read in/.test(document.querySelector('.drop .note').textContent)")
    assert page.locator(".legend li").count() >= 1
    assert page.locator("#view .docs .doc").count() >= 3, "nearest documents"
    page.get_by_role("heading", name="Its place on the map").wait_for()
    page.locator("#view .view-stage").wait_for()
    area.fill(TEXT + "One more word: trial.")
    until(page, "document.querySelector('.coloured').textContent.includes('One more word')")
    taken = re.search(r"[\d,]+", page.locator(".drop .note").inner_text()).group().replace(",", "")
    assert int(taken) < 10_000, "a page takes some 50 ms; machines under load are given time"
    assert "judge" not in page.url, "the text is nobody else's: it is not in the address"


def test_files_are_opened_and_nonsense_is_refused_in_a_sentence(looking, tmp_path):
    page = looking("view=read").page
    (tmp_path / "one.txt").write_text("The striker scored a goal for the club.", encoding="utf-8")
    (tmp_path / "two.bin").write_bytes(b"\x00\x01\x02" * 100)
    page.locator("input[type=file]").set_input_files(tmp_path / "one.txt")
    page.wait_for_selector(".coloured .word")
    page.locator("input[type=file]").set_input_files(tmp_path / "two.bin")
    page.wait_for_selector("text=This is not a file of text")
    page.locator("#text").fill("qqq zzz xxx")
    page.wait_for_selector("text=The model knows no word of this text")
    page.locator("#text").fill("")
    page.wait_for_selector("text=will be here")


def test_a_dropped_file_is_read(looking):
    page = looking("view=read").page
    page.evaluate(
        """() => {
            const data = new DataTransfer();
            data.items.add(new File(["A goal in the last match of the league."], "a.txt", {type: "text/plain"}));
            document.querySelector("#text").dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true}));
        }"""
    )
    page.wait_for_selector(".coloured .word")
    assert "goal" in page.locator("#text").input_value()
