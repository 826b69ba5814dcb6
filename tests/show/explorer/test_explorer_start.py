"""A server that begins: nothing is left for its threads to trip over."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

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
    from diln.show.explorer.search import Search

    search = Search(own.atlas.corpus)
    monkeypatch.setattr(search, "_open", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        search.prepare()
    assert search.state()["state"] == "off"
    assert search.state()["note"]
