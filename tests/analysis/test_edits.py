"""Names, merges and hidden topics: what holds after changes, and what is kept of it on disk."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from newsroom import editor

from diln import DilnWarning
from diln.analysis import Change, Edits
from diln.analysis.edit_files import FILE, change_edits, check_edits, read_edits
from diln.errors import StoreError


def stored(folder, content):
    (folder / FILE).write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")


def content_of(changes, topics=None):
    if topics is None:
        topics = {str(topic): words_of(topic) for change in changes for topic in change["topics"]}
    return {"format": "diln-edits", "schema": 2, "changes": changes, "topics": topics}


def words_of(topic):
    fitted = editor().fitted_
    top = np.argsort(-fitted.topic_word[topic], kind="stable")[:10] if topic < len(fitted.topic_weights) else []
    return [fitted.vocabulary[at] for at in top]


def test_a_name_holds_until_it_is_taken_away_or_undone():
    edits = Edits().rename(2, " The \n courts ").rename(2, "Courts")
    assert edits.labels == {2: "Courts"}
    assert edits.undo().labels == {2: "The courts"}
    assert edits.rename(2, "").labels == {}
    assert Edits().labels == {}


def test_merged_topics_have_the_number_of_the_first_and_can_be_merged_on():
    edits = Edits().merge([5, 3]).merge([1, 5]).merge([8, 9])
    assert edits.merges == ((1, 5, 3), (8, 9))
    assert edits.undo().undo().merges == ((5, 3),)
    with pytest.raises(ValueError, match="topic 3 is merged into topic 1; name that one, or show 3 first"):
        edits.merge([3, 2])
    with pytest.raises(ValueError, match="topic 5 is merged into topic 1"):
        edits.rename(5, "x")
    with pytest.raises(ValueError, match="at least two"):
        edits.merge([4])


def test_a_topic_that_is_shown_again_leaves_what_it_was_merged_into():
    edits = Edits().merge([1, 5, 3]).show([5])
    assert edits.merges == ((1, 3),)
    assert edits.show([3]).merges == ()


def test_many_topics_are_merged_and_named_in_a_moment():
    begun = time.perf_counter()
    pairs = (Change("merge", (at, at + 1)) for at in range(100_000, 120_000, 2))
    edits = Edits((Change("merge", tuple(range(100_000))), *pairs))
    assert len(edits.merges) == 10_001
    assert time.perf_counter() - begun < 5


def test_hidden_topics_are_shown_again_by_showing_merging_or_undoing():
    edits = Edits().hide([4, 2])
    assert edits.hidden == {2, 4}
    assert edits.show([2]).hidden == {4}
    assert edits.merge([1, 4]).hidden == {2}
    assert edits.undo().hidden == frozenset()


def test_undoing_nothing_is_an_error():
    with pytest.raises(ValueError, match="no change to undo"):
        Edits().undo()


@pytest.mark.parametrize("label", ["x" * 201, "a\0b", "a\x1b[31mb", "\ud800", "a\u202eb"])
def test_a_name_that_cannot_be_shown_is_refused(label):
    with pytest.raises(ValueError, match="the label has"):
        Edits().rename(1, label)


@pytest.mark.parametrize("topics", [[], [-1], [1.0], [True], ["1"], [2, 2], None, 3])
def test_what_are_no_topics_is_refused(topics):
    with pytest.raises((ValueError, TypeError), match="topic"):
        Edits().hide(topics)


def test_edits_are_about_topics_that_the_model_has_and_leave_one():
    fitted = editor().fitted_
    with pytest.raises(ValueError, match="there is no topic 99; the model has 0 to 11"):
        check_edits(Edits().hide([99]), fitted)
    with pytest.raises(ValueError, match="leave at least one"):
        check_edits(Edits().hide(range(12)), fitted)


def test_changes_are_kept_beside_the_model(tmp_path):
    fitted = editor().fitted_
    fitted.save(tmp_path)
    assert read_edits(tmp_path, fitted) == Edits()
    change_edits(tmp_path, fitted, lambda edits: edits.rename(1, "Sport & more"))
    made = change_edits(tmp_path, fitted, lambda edits: edits.merge([0, 3]).hide([2]).rename_theme([0, 4], "Law"))
    assert read_edits(tmp_path, fitted) == made
    assert made.theme_labels[0].label == "Law"
    assert change_edits(tmp_path, fitted, Edits.undo).theme_labels == ()
    fitted.save(tmp_path)
    assert read_edits(tmp_path, fitted).labels == {1: "Sport & more"}, "saving the model again keeps the edits"


def test_a_change_that_fails_changes_nothing(tmp_path):
    fitted = editor().fitted_
    change_edits(tmp_path, fitted, lambda edits: edits.rename(1, "Sport"))
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(ValueError, match="there is no topic 400"):
        change_edits(tmp_path, fitted, lambda edits: edits.hide([400]))
    assert (tmp_path / FILE).read_bytes() == before


def test_edits_of_another_model_are_left_out_with_a_warning(tmp_path):
    fitted = editor().fitted_
    stored(tmp_path, content_of([{"action": "rename", "topics": [1], "label": "Old"}], {"1": ["other", "words"]}))
    with pytest.warns(DilnWarning, match="topic 1 is another one than when it was edited"):
        assert read_edits(tmp_path, fitted) == Edits()


RENAME = {"action": "rename", "topics": [1], "label": "x"}
MERGE = {"action": "merge", "topics": [1, 2], "label": ""}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"format": "diln-model"}', b"\xff", b"[" * 5000])
def test_what_is_no_file_of_edits_is_an_error_in_a_sentence(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(StoreError, match=r"edits\.json: .*restore the file from a copy, or remove it"):
        read_edits(tmp_path, editor().fitted_)


@pytest.mark.parametrize("more", [{"more": 1}, {"changes": {}}, {"topics": []}, {"schema": 0}, {"schema": "1"}])
def test_a_file_of_another_form_is_an_error_in_a_sentence(tmp_path, more):
    stored(tmp_path, content_of([]) | more)
    with pytest.raises(StoreError, match=r"edits\.json: it"):
        read_edits(tmp_path, editor().fitted_)


@pytest.mark.parametrize(
    ("changes", "topics"),
    [
        ([{**RENAME, "action": "burn"}], None), ([{**RENAME, "label": 3}], None), ([RENAME], {"1": [3]}),
        ([{**RENAME, "label": "x" * 999}], None), ([{**RENAME, "label": "a\x07"}], None), ([RENAME], {}),
        ([{**RENAME, "topics": "1"}], {}), ([{**RENAME, "topics": [1.5]}], {}), ([{**RENAME, "topics": [True]}], {}),
        ([{**RENAME, "topics": []}], {}), ([{**RENAME, "more": 1}], None), ([3], {}), ([None], {}),
        ([{"action": "rename", "topics": [1]}], None), ([MERGE, {**MERGE, "topics": [2, 3]}], None),
        ([{**MERGE, "topics": [1, 1]}], None), ([{**MERGE, "label": "x"}], None), ([RENAME], {"1": [], "2": []}),
        ([{**MERGE, "action": "hide", "topics": list(range(12))}], None),
    ],
)  # fmt: skip
def test_strange_changes_are_an_error_in_a_sentence(tmp_path, changes, topics):
    stored(tmp_path, content_of(changes, topics))
    with pytest.raises(StoreError, match=r"edits\.json: .*restore the file from a copy, or remove it") as error:
        read_edits(tmp_path, editor().fitted_)
    assert "\n" not in str(error.value)


def test_a_newer_file_is_named_as_such(tmp_path):
    stored(tmp_path, {**content_of([]), "schema": 3})
    with pytest.raises(StoreError, match="newer diln"):
        read_edits(tmp_path, editor().fitted_)


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "other").write_text("{}")
    (tmp_path / FILE).symlink_to(tmp_path / "other")
    with pytest.raises(StoreError, match="symbolic link"):
        read_edits(tmp_path, editor().fitted_)


RENAMER = """
import sys
import time
from pathlib import Path
from diln.analysis.edit_files import change_edits
from diln.models.fitted import Fitted
folder, first = Path(sys.argv[1]), int(sys.argv[2])
fitted = Fitted.load(folder)
for topic in range(first, first + 6):
    change_edits(folder, fitted, lambda edits: edits.rename(topic, f"name {topic}"))
"""


def test_processes_that_change_at_once_lose_nothing(tmp_path):
    editor().fitted_.save(tmp_path)
    runs = [subprocess.Popen([sys.executable, "-c", RENAMER, str(tmp_path), str(first)]) for first in (0, 6)]
    assert [run.wait(60) for run in runs] == [0, 0]
    edits = read_edits(tmp_path, editor().fitted_)
    assert edits.labels == {topic: f"name {topic}" for topic in range(12)}
    assert not list(Path(tmp_path).glob("*.new"))
