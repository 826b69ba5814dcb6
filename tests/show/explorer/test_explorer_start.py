"""A server that begins, and the threads that work for it: what they must not trip over."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from shop import client

from diln.show.explorer.choice import Chooser, Kept
from diln.show.explorer.search import Search
from diln.show.explorer.start import start_search

ASKING = """
import json, sys, time
from pathlib import Path
from shop import client
from diln.show.explorer.record import Record, beside
from diln.show.explorer.start import open_desk

folder, model = Path(sys.argv[1]), Path(sys.argv[2])
with Record(beside(model)):
    desk = open_desk(model, folder / "corpus", None, True, read_only=True, jobs=1)
    page = client(desk)
    assert not page.get("/api/model").json()["ready"]
    before = set(sys.modules)
while not desk.training.ended or desk.search is None:
    time.sleep(0.01)
desk.search.wait()
assert desk.ready, desk.training.note
desk.other = desk.atlas
asked = [path for path, how in page.get("/openapi.json").json()["paths"].items() if "get" in how]
places = {"{topic}": "0", "{row}": "3", "{term}": "apple"}
answers = {}
for path in asked:
    for name, value in places.items():
        path = path.replace(name, value)
    answers[path] = page.get(path).status_code
answers["/api/documents?q=apple"] = page.get("/api/documents", params={"q": "apple"}).status_code
answers["/api/read"] = page.post("/api/read", json={"text": "apple pear plum"}).status_code
desk.close()
print(json.dumps({"answers": answers, "imported": sorted(set(sys.modules) - before)}))
"""


def test_answering_imports_nothing_that_two_threads_must_not_import_at_once(shop):
    """Parts of SciPy import each other: threads that begin with different ones at the same time find them half made."""
    command = [sys.executable, "-c", ASKING, str(shop), str(shop / "model0")]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert set(told["answers"].values()) == {200}, told["answers"]
    assert len(told["answers"]) > 20
    late = [name for name in told["imported"] if name.partition(".")[0] in ("scipy", "sklearn", "diln")]
    assert late == []


def test_a_model_is_shown_when_what_pages_ask_for_first_is_found(own, monkeypatch):
    seen = []
    atlas, changes = own.atlas.edited(own.atlas.edits), own.changes
    monkeypatch.setattr(type(atlas), "pairs", lambda self, *_: seen.append((own.atlas is atlas, own.changes)))
    own.show(atlas)
    assert seen == [(False, changes)]
    assert own.atlas is atlas
    assert own.points.kept.known.keys() == {"auto"}


def test_a_search_that_fails_as_nobody_foresaw_is_off(own, monkeypatch):
    search = Search(own.atlas.corpus)
    monkeypatch.setattr(search, "_open", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        search.prepare()
    assert search.state()["state"] == "off"
    assert search.state()["note"]


def test_hits_of_before_an_edit_are_not_kept_for_after_it(own, monkeypatch):
    start_search(own)
    own.search.wait(60)
    page, real, edits = client(own), Chooser.chosen, []
    first, second = (one["id"] for one in page.get("/api/topics").json()[:2])

    def found() -> int:
        return page.get("/api/documents", params={"topic": first, "q": "apple", "n": 200}).json()["total"]

    def amid(self, choice):
        chosen = real(self, choice)
        if not edits:
            edits.append({"action": "merge", "keep": first, "others": [second]})
            assert page.post("/api/edits", json=edits[0]).status_code == 200
        return chosen

    monkeypatch.setattr(Chooser, "chosen", amid)
    before, after = found(), found()
    own.search.forget()
    assert after > before
    assert client(own).get("/api/documents", params={"topic": first, "q": "apple"}).json()["total"] == after


def test_what_somebody_looks_for_is_looked_for_once():
    kept, looked, third = Kept(), [], []

    class Noting(dict):
        def pop(self, *args):
            found = super().pop(*args)
            if not third:  # as if a third one asked at this moment
                third.append("a" in kept.known or kept.lock.locked())
            return found

    kept.looking = Noting()
    assert [kept.get("a", lambda: looked.append(1) or 7) for _ in range(3)] == [7, 7, 7]
    assert looked == [1]
    assert third == [True]
    with pytest.raises(ZeroDivisionError):
        kept.get("b", lambda: 1 // 0)
    assert not kept.looking
    assert kept.get("b", lambda: 1) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="processes are ended in another way")
def test_a_server_that_waits_for_the_end_of_its_input_ends_when_it_is_told_to(shop):
    command = [sys.executable, "-m", "diln", "explore", str(shop / "model0"), "--corpus", str(shop / "corpus")]
    options = ["--port", "0", "--no-browser", "--read-only", "--until-eof"]
    with subprocess.Popen(
        [*command, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert "http://" in server.stdout.readline()
        server.terminate()
        server.wait(60)
        assert "Fatal" not in server.stderr.read()
        assert server.returncode >= 0
