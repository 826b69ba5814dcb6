"""Every address of the API answers with its records, and everything wrong with a sentence."""

import asyncio
import csv
import io
import json
import shutil
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module

import newsroom
import numpy as np
import pytest
from shop import ODD, client

from diln.analysis import Atlas
from diln.show.explorer import kept
from diln.show.explorer.desk import Desk
from diln.show.explorer.points import PointMap
from diln.show.explorer.routes.documents import _line, reading
from diln.show.explorer.start import open_desk, start_reading_ahead


def get(page, path, status=200, **params):
    answer = page.get(f"/api/{path}", params=params)
    assert answer.status_code == status, answer.text
    return answer.json()


def refused(answer, status):
    """The sentence of an answer that is an error."""
    assert answer.status_code == status, answer.text
    found = answer.json()
    assert list(found) == ["error"]
    assert found["error"]
    assert "\n" not in found["error"]
    assert "Traceback" not in answer.text
    return found["error"]


def test_the_model_tells_what_it_has(page, desk):
    found = get(page, "model")
    assert found["kind"] == "DILN"
    assert found["documents"] == 160
    assert found["has"] | {"sure": None} == {
        "text": True, "dates": True, "labels": True, "locations": True, "pairs": True, "sure": None, "index": True,
        "history": True,
    }  # fmt: skip
    assert found["compare"]
    assert not found["watching"]
    assert found["search"] == {"state": "ready", "progress": 1.0, "note": ""}
    assert found["sentences"]


def test_topics_have_the_numbers_of_the_model(page, desk):
    found = get(page, "topics")
    assert [one["id"] for one in found] == [one.id for one in desk.atlas.topics()]
    first = found[0]["id"]
    card = get(page, f"topics/{first}")
    assert card["words"] == found[0]["words"]
    assert {"all_words", "friends", "rivals", "typical", "trend", "groups"} <= set(card)
    words = get(page, f"topics/{first}/words", relevance=1, n=3)
    assert [one["term"] for one in words] == card["words"][:3]


def test_every_topic_that_a_document_has_is_named(page):
    names = page.get("/api/names").json()
    listed = {str(one["id"]): one["label"] for one in page.get("/api/topics").json()}
    assert listed.items() <= names.items()
    for row in range(5):
        assert {str(one["id"]) for one in page.get(f"/api/documents/{row}").json()["topics"]} <= set(names)


def test_overviews_answer(page):
    assert get(page, "themes", n=2)["n"] == 2
    assert get(page, "map")["points"]
    assert "positive" in get(page, "pairs", n=5, unsure=True)
    assert 1 <= len(get(page, "matrix", n=3)["order"]) <= 3
    assert get(page, "trends", by="theme", granularity="quarter")["granularity"] == "quarter"
    assert len(get(page, "trends", by="topic", ids="0,1")["series"]) == 2
    assert get(page, "groups", by="theme")["labels"]
    assert get(page, "edits")["changes"] == []


def test_trends_are_told_with_labels_held_constant_and_alone(page, desk):
    plain = get(page, "trends", by="theme", granularity="quarter")
    assert sum(plain["n_docs"]) == 160
    assert (plain["standardised"], plain["mix"]) == (False, None)
    held = get(page, "trends", by="theme", granularity="quarter", standardise=True)
    assert held["standardised"]
    assert held["series"] == desk.atlas.trends("theme", "quarter", standardise=True).to_json()["series"]
    alone = get(page, "trends/labels", by="theme", granularity="year", n=2)
    assert (len(alone["labels"]), len(alone["trends"]), alone["n_labels"]) == (2, 2, 4)
    assert alone["periods"] == alone["trends"][0]["periods"]
    few = get(page, "trends", by="theme", granularity="quarter", min_documents=18)
    assert few["notes"]
    assert "no period has 500 documents" in refused(page.get("/api/trends?min_documents=500"), 400)


def test_a_shift_of_labels_is_told_with_its_sentence():
    found = get(client(Desk(newsroom.uneven())), "trends", by="theme", granularity="quarter")
    assert found["mix"]["sentence"].startswith("The mix of labels changes over time")
    assert found["series"][0]["values"][-1] is None


def test_words_are_completed_and_lead_to_topics(page):
    assert get(page, "words", prefix="VIO")["words"] == ["violin"]
    assert get(page, "words")["words"] == []
    assert get(page, "words/violin")[0]["share"] > 0
    assert "zzz" in refused(page.get("/api/words/zzz"), 404)


def test_two_models_are_compared(page):
    found = get(page, "compare")
    assert found["matches"]
    assert found["topics"]


def test_one_model_cannot_be_compared(own):
    assert "--compare" in refused(client(own).get("/api/compare"), 404)


def test_documents_are_listed_in_pages(page):
    first, second = get(page, "documents", n=5), get(page, "documents", n=5, offset=5)
    assert first["total"] == second["total"] == 160
    assert [one["row"] for one in first["documents"] + second["documents"]] == list(range(10))
    assert get(page, "documents", offset=10**6)["documents"] == []


def test_documents_are_selected_by_topic_theme_label_and_date(page, desk):
    topic = get(page, "topics")[0]["id"]
    found = get(page, "documents", topic=topic, n=200)
    assert found["total"] == desk.atlas.topic(topic).n_docs
    shares = [one["share"] for one in found["documents"]]
    assert shares == sorted(shares, reverse=True)
    assert min(shares) >= 0.1
    themed = get(page, "documents", theme=0, n_themes=2, n=200)
    assert {one["theme"] for one in themed["documents"]} == {0}
    labelled = get(page, "documents", label="label 1", n=200)
    assert {one["label"] for one in labelled["documents"]} == {"label 1"}
    dated = get(page, "documents", since="2020-02", until="2020-03-10", n=200)
    assert all("2020-02" <= one["date"] <= "2020-03-10" for one in dated["documents"])
    both = get(page, "documents", label="label 1", since="2021", topic=topic, n=200)
    assert both["total"] < min(found["total"], labelled["total"])


def test_search_marks_its_hits_and_goes_with_filters(page):
    found = get(page, "documents", q="violin con", n=200)
    assert found["total"] > 3
    assert all("\x02violin\x03" in one["snippet"] for one in found["documents"][:3])
    labelled = get(page, "documents", q="violin con", label="label 2", n=200)
    assert 0 < labelled["total"] <= found["total"]
    assert {one["label"] for one in labelled["documents"]} == {"label 2"}


@pytest.mark.parametrize("query", ["", "  ", "zzzunknown", '"', "***", "(", "AND", "\x00", "-", '-"', "日本", "🙂"])
def test_no_query_is_an_error(page, query):
    assert "total" in get(page, "documents", q=query)


def test_a_document_has_its_text_word_by_word(page, desk):
    found = get(page, "documents/159")
    whole = "".join(token["text"] for token in found["reading"]["tokens"])
    assert ODD in whole
    assert found["id"] == "doc-159"
    assert isinstance(found["similar"], list)


def test_points_are_numbers_of_sixteen_bits(page):
    answer = page.get("/api/map/documents")
    points = np.frombuffer(answer.content, "<u2").reshape(-1, 4)
    assert answer.headers["x-total"] == "160" == str(len(points))
    some = page.get("/api/map/documents", params={"n": 50})
    thinned = np.frombuffer(some.content, "<u2").reshape(-1, 4)
    assert some.headers["x-total"] == "160"
    assert len(thinned) == 50
    assert set(map(tuple, thinned.tolist())) <= set(map(tuple, points.tolist()))
    assert some.content == page.get("/api/map/documents?n=50&since=").content


def test_points_in_a_box_have_titles(page):
    found = get(page, "map/documents", x0=-1, y0=-1, x1=1, y1=1, n=500)
    assert found["total"] == 160
    box = [one for one in found["documents"] if one["x"] >= 0]
    assert get(page, "map/documents", x0=0, y0=-1, x1=1, y1=1, n=500)["total"] == len(box)
    assert box[0]["title"].startswith("About")


def test_points_follow_the_selection(page):
    total = get(page, "documents", label="label 1")["total"]
    assert page.get("/api/map/documents", params={"label": "label 1"}).headers["x-total"] == str(total)
    hits = get(page, "documents", q="violin")["total"]
    assert page.get("/api/map/documents", params={"q": "violin"}).headers["x-total"] == str(hits)


def test_shares_of_a_selection(page):
    found = get(page, "shares", label="label 1")
    assert found["n_docs"] == get(page, "documents", label="label 1")["total"]
    assert max(one["lift"] for one in found["topics"]) > 1.3


def test_the_selection_is_a_table(page):
    answer = page.get("/api/export/documents.csv", params={"label": "label 1", "q": "wheel"})
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == get(page, "documents", label="label 1", q="wheel")["total"]
    assert {row["label"] for row in rows} == {"label 1"}
    assert "attachment" in answer.headers["content-disposition"]


def test_a_table_has_no_formulas():
    assert _line(("=1+1", "+1+cmd|' /C calc'!A0", "-2.5", " @x", "\uff1d1", "\ufeff\u200b=1", -3, "a=b")) == (
        "'=1+1,'+1+cmd|' /C calc'!A0,-2.5,' @x,'\uff1d1,'\ufeff\u200b=1,-3,a=b\r\n"
    )


def test_a_new_text_is_read(page):
    answer = page.post("/api/read", json={"text": "A violin and a drum, and the zzz senate."})
    found = answer.json()
    assert found["topics"]
    assert "".join(one["text"] for one in found["tokens"]) == "A violin and a drum, and the zzz senate."
    assert (found["n_known"], found["n_unknown"]) == (3, 1)


@pytest.mark.parametrize("text", ["", "zzz qqq", "\x00\x01\x02", "\ud800 half", "日本語", "violin" * 1000])
def test_odd_texts_are_read(page, text):
    answer = page.post("/api/read", content=json.dumps({"text": text}), headers={"content-type": "application/json"})
    assert answer.status_code == 200
    assert "".join(one["text"] for one in answer.json()["tokens"]) == text


def test_a_pattern_that_takes_too_long_stops_nobody(shop, monkeypatch):
    monkeypatch.setattr("diln.corpus.patterns.DEADLINE", 0.5)
    atlas = Atlas.open(shop / "model0", shop / "corpus")
    desk = Desk(Atlas(replace(atlas.fitted, rule=atlas.fitted.rule | {"token_pattern": "(?:a|aa)+$|b"}), atlas.corpus))
    page = client(desk)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(page.post, "/api/read", json={"text": "a" * 60 + "!"})
        assert get(page, "topics")
    said = refused(answer.result(), 400)
    assert "token_pattern '(?:a|aa)+$|b' took longer than 0.5 seconds on texts of 61 characters; write it" in said
    assert page.post("/api/read", json={"text": "b b"}).json()["n_unknown"] == 2
    desk.close()


def test_ten_megabytes_are_refused(page):
    assert "1,000,000 bytes" in refused(page.post("/api/read", json={"text": "violin " * 1_500_000}), 413)


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"\xff\xfe\x00", 400), (b"[" * 100_000, 400)]
    + [(body, 422) for body in (b"{", b"[]", b"null", b'{"text": 3}', b"")],
    ids=range(7),
)
def test_bytes_that_are_no_text_are_refused(page, body, status):
    refused(page.post("/api/read", content=body, headers={"content-type": "application/json"}), status)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("topics/9999", 404), ("topics/-1", 422), ("topics/x", 422), ("topics/9999/words", 404), ("documents/160", 404),
        ("documents?topic=9999", 400), ("documents?theme=99", 400), ("documents?label=none", 400),
        ("documents?since=soon", 400), ("documents?n=0", 422), ("documents?n=100000", 422), ("themes?n=0", 422),
        ("trends?by=word", 422), ("trends?ids=1;2", 422), ("trends?ids=999", 400), ("trends?label=none", 400),
        ("words/%00", 404), ("nothing", 404), ("../pyproject.toml", 404), ("map/documents?x0=nan&y0=0&x1=1&y1=1", 422),
        ("export/documents.csv?n_themes=82", 400), ("themes?n=82", 400), ("map/documents?n_themes=82", 400),
    ],
)  # fmt: skip
def test_what_is_not_there_is_said_in_a_sentence(page, path, status):
    refused(page.get(f"/api/{path}"), status)


def test_an_answer_is_given_again_until_something_changes(own):
    page = client(own)
    first = page.get("/api/topics")
    topic = first.json()[0]["id"]
    assert page.get("/api/topics").content == first.content
    page.post("/api/edits", json={"action": "rename", "topic": topic, "label": "Mine"})
    assert page.get("/api/topics").json()[0]["label"] == "Mine"


def test_long_questions_with_short_answers_take_no_more_room_than_others(own, monkeypatch):
    monkeypatch.setattr(kept, "ROOM", 100_000)
    answers = kept.KeptAnswers(_empty_list, own)
    for number in range(50):
        asyncio.run(answers(_question(b"x" * 10_000 + b"%d" % number), None, _taken))
    assert sum(map(len, answers.known)) <= 100_000


def test_nobody_waits_for_one_who_does_not_take_an_answer(own):
    async def two() -> None:
        answers = kept.KeptAnswers(_empty_list, own)

        async def never(message):
            await asyncio.Event().wait()

        first = asyncio.create_task(answers(_question(b""), None, never))
        await asyncio.sleep(0)
        await asyncio.wait_for(answers(_question(b""), None, _taken), 5)
        first.cancel()

    asyncio.run(two())


def _question(query: bytes) -> dict:
    return {"type": "http", "method": "GET", "path": "/api/x", "raw_path": b"/api/x", "query_string": query}


async def _empty_list(scope, receive, send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"[]"})


async def _taken(message) -> None:
    pass


def test_topics_are_renamed_merged_hidden_and_all_is_undone(own):
    page = client(own)
    before = page.get("/api/topics").json()
    first, second, third = (one["id"] for one in before[:3])
    steps = [
        {"action": "rename", "topic": first, "label": "One"},
        {"action": "merge", "keep": first, "others": [second]},
        {"action": "hide", "topic": third},
        {"action": "rename", "theme": 0, "label": "All of it", "n": 1},
    ]
    for step in steps:
        assert page.post("/api/edits", json=step).status_code == 200
    after = page.get("/api/topics").json()
    assert after[0] | {"label": "One", "merged": [second]} == after[0]
    assert {second, third}.isdisjoint(one["id"] for one in after)
    assert page.get("/api/themes?n=1").json()["themes"][0]["label"] == "All of it"
    assert Atlas.open(own.atlas.directory).label(first) == "One"
    for _ in steps:
        page.post("/api/edits", json={"action": "undo"})
    assert page.get("/api/topics").json() == before
    assert "no change" in refused(page.post("/api/edits", json={"action": "undo"}), 400)


def test_edits_find_again_only_what_they_change(own, monkeypatch):
    """The costly steps are counted: a name repeats none, hiding and merging only what is of the topics they name."""
    page, counted = client(own), Counter()
    own.show(own.atlas)

    def count(where: str) -> None:
        module, _, name = where.rpartition(".")
        real = getattr(import_module(module), name)
        monkeypatch.setattr(where, lambda *given, **named: counted.update([name]) or real(*given, **named))

    for where in (
        "themes.find.grow", "themes.find.document_groups", "atlas.topic_map", "atlas.moved", "atlas.folded_lifts",
        "atlas.topic_info", "atlas.trends", "atlas.groups", "topic_infos.frex", "document_view.representative",
    ):  # fmt: skip
        count(f"diln.analysis.{where}")
    monkeypatch.setattr(
        PointMap, "_topics", lambda self, real=PointMap._topics: counted.update(["points"]) or real(self)
    )

    def look() -> None:
        """All that a page asks for after an edit."""
        shown = page.get("/api/topics").json()
        for path in (
            "model",
            "names",
            "themes",
            "themes?n=3",
            "edits",
            "map",
            "map?n=3",
            "pairs?n=50",
            "map/documents",
        ):
            assert page.get(f"/api/{path}").status_code == 200
        for topic in shown:
            assert page.get(f"/api/topics/{topic['id']}").status_code == 200

    def after(**step: object) -> dict[str, int]:
        counted.clear()
        assert page.post("/api/edits", json=step).status_code == 200
        look()
        return dict(counted)

    look()
    first, second, third, fourth = own.atlas.folding.shown[:4].tolist()
    assert after(action="rename", topic=first, label="Mine") == {}
    assert after(action="rename", theme=0, label="All", n=3) == {}
    arranged = {"moved": 2, "folded_lifts": 1, "points": 1}
    assert after(action="hide", topic=second) == arranged
    once = dict.fromkeys(("topic_info", "trends", "groups", "frex", "representative"), 1)
    assert after(action="merge", keep=third, others=[fourth]) == arranged | once
    assert after(action="undo") == arranged
    assert after(action="undo") == {"folded_lifts": 1, "points": 1}, "all topics are where they were without edits"


@pytest.mark.parametrize(
    "step",
    [
        {"action": "rename", "topic": 999, "label": "x"}, {"action": "rename", "label": "x"},
        {"action": "merge", "keep": 0, "others": [0]}, {"action": "rename", "theme": 99, "label": "x"},
        {"action": "hide", "topic": 999},
    ],
)  # fmt: skip
def test_senseless_changes_are_refused_and_change_nothing(own, step):
    page = client(own)
    refused(page.post("/api/edits", json=step), 400)
    assert page.get("/api/edits").json()["changes"] == []


@pytest.mark.parametrize("step", [{}, {"action": "burn"}, {"action": "merge", "keep": 0, "others": []}, [], 3])
def test_changes_of_another_form_are_refused(page, step):
    refused(page.post("/api/edits", json=step), 422)


def test_nothing_is_changed_that_is_read_only(shop):
    desk = Desk(Atlas.open(shop / "model0"), read_only=True)
    assert "--read-only" in refused(client(desk).post("/api/edits", json={"action": "hide", "topic": 0}), 403)
    assert not (shop / "model0" / "edits.json").exists()


def test_read_only_writes_nothing_at_all(shop, tmp_path):
    model = shutil.copytree(shop / "model0", tmp_path / "model")
    shutil.rmtree(model / "documents")
    before = sorted(model.rglob("*"))
    desk = open_desk(model, shop / "corpus", None, read_only=True, jobs=1)
    desk.search.wait(30)
    desk.close()
    assert sorted(model.rglob("*")) == before


def test_labels_come_with_their_documents_the_largest_first(page, desk):
    found = page.get("/api/labels").json()
    names, codes = desk.atlas.index.label_names, desk.atlas.index.label_codes
    sizes = {name: int((codes == place).sum()) for place, name in enumerate(names)}
    assert {one["name"]: one["n_docs"] for one in found["labels"]} == sizes
    assert [one["n_docs"] for one in found["labels"]] == sorted(sizes.values(), reverse=True)
    few = page.get("/api/labels", params={"n": 1}).json()
    assert few == {"labels": found["labels"][:1], "n_labels": len(names)}


def test_a_text_is_read_before_somebody_has_one(shop, monkeypatch):
    read = []
    monkeypatch.setattr("diln.show.explorer.start.reading", lambda desk, text: read.append(reading(desk, text)))
    desk = open_desk(shop / "model0", shop / "corpus", None, read_only=True, jobs=1)
    assert desk.reads.wait(60)
    desk.close()
    assert read[0]["n_known"] > 0
    assert read[0]["neighbours"]


def test_a_model_without_documents_says_so(shop):
    page = client(Desk(Atlas(Atlas.open(shop / "model0").fitted)))
    assert page.get("/api/topics").status_code == 200
    assert page.get("/api/topics/0").json()["typical"] is None
    assert "--corpus" in refused(page.get("/api/documents"), 400)
    assert "--corpus" in refused(page.get("/api/map/documents"), 400)
    assert page.get("/api/model").json()["has"]["index"] is False


def test_a_fault_is_told_without_our_insides(own, monkeypatch):
    monkeypatch.setattr(Atlas, "topics", lambda self: 1 / 0)
    sentence = refused(client(own).get("/api/topics"), 500)
    assert "division" not in sentence


def test_the_description_of_the_api_loads_nothing(page):
    answer = page.get("/docs")
    assert answer.status_code == 200
    assert "<script" not in answer.text
    assert "http" not in answer.text.replace("https://", "http://").split("<body>")[1]
    for path in page.get("/openapi.json").json()["paths"]:
        assert path in answer.text


def test_cards_are_made_ahead_and_not_again_after_a_change_of_others(own, monkeypatch):
    start_reading_ahead(own)
    first, second, third, fourth = own.atlas.folding.shown[:4].tolist()

    def ahead(*parts: int) -> dict:
        for _ in range(1200):
            if parts in own.cards.known:
                return own.cards.known[parts]
            time.sleep(0.05)
        raise AssertionError("no card was made")

    cards = {topic: ahead(topic) for topic in (first, second, third, fourth)}
    page = client(own)
    page.post("/api/edits", json={"action": "rename", "topic": first, "label": "Mine"})
    page.post("/api/edits", json={"action": "hide", "topic": second})
    card = page.get(f"/api/topics/{first}").json()
    assert (card["label"], card["trend"]["series"][0]["label"]) == ("Mine", "Mine")
    assert second not in {
        topic for pair in card["friends"] + card["rivals"] for topic in (pair["first"], pair["second"])
    }
    assert ahead(first) is cards[first]
    page.post("/api/edits", json={"action": "merge", "keep": third, "others": [fourth]})
    assert ahead(third, fourth) is not cards[third]
    assert ahead(first) is cards[first]
