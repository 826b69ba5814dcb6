"""Edits in the model's folder: read strictly, and changed by one process at a time, so that none is lost."""

import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter, warn

import numpy as np

from diln.analysis.edits import ACTIONS, Change, Edits, checked_label
from diln.analysis.folding import Folding
from diln.errors import DilnWarning, StoreError, check_kind
from diln.files import MANIFEST, guarded, let_through, locked, unreadable, write_whole
from diln.files.kinds import WRONG, read_json
from diln.files.safe import told
from diln.models.fitted import Fitted

FILE = "edits.json"
FORMAT, SCHEMA = "diln-edits", 2  # the number is that of all files of diln
PATIENCE = 10.0  # seconds that a change waits for another process to be done
PAUSE = 0.02
WORDS = 10  # of a topic that say whether it is still the one that was named
SAME = 3  # of them that it must still have


def read_edits(directory: Path, fitted: Fitted) -> Edits:
    """The edits of a model; none where there is no file.

    If topics are not those that were edited, for the model was fitted anew, a warning says so and there are none.
    """
    path = directory / FILE
    try:
        content = read_json(path)
    except (FileNotFoundError, NotADirectoryError):
        return Edits()
    except OSError as error:
        raise unreadable(path, error) from None
    except WRONG:
        raise _wrong(path, "it is not the JSON that was written") from None
    edits = _edits(path, content)
    others = [topic for topic in edits.topics if not _same(content["topics"][str(topic)], topic, fitted)]
    if others:
        warn(
            f"{path}: topic {others[0]} is another one than when it was edited, for the model was fitted anew since; "
            "names, merges and hidden topics are left out, and the next change replaces them",
            DilnWarning,
            stacklevel=2,
        )
        return Edits()
    try:
        check_edits(edits, fitted)
    except ValueError as error:
        raise _wrong(path, str(error)) from None
    return edits


def state_of(directory: Path) -> str | None:
    """What tells whether a model in a folder is still the same; None where there is none."""
    try:
        return sha256((directory / MANIFEST).read_bytes()).hexdigest()
    except OSError:
        return None


def change_edits(directory: Path, fitted: Fitted, change: Callable[[Edits], Edits], state: str | None = None) -> Edits:
    """Change the edits of a model; other processes that do so at the same time wait. Returns the new edits.

    Nothing is changed if the model is no longer in the ``state`` that it was opened in, where that is known.
    """
    path = directory / FILE
    with _alone(directory):
        if state is not None and state != state_of(directory):
            raise StoreError(f"{directory}: the model was fitted anew since it was opened; open it again")
        edits = change(read_edits(directory, fitted))
        check_edits(edits, fitted)
        write_whole(path, dumps(_content(edits, fitted), indent=1, sort_keys=True) + "\n")
    return edits


def check_edits(edits: Edits, fitted: Fitted) -> None:
    """Raise unless the edits are about topics that the model has, and leave one to be shown."""
    most = fitted.posterior.n_topics - 1
    far = next((topic for topic in edits.topics if topic > most), None)
    if far is not None:
        raise ValueError(f"there is no topic {far}; the model has 0 to {most}")
    if edits.hidden and not len(Folding(fitted, edits).shown):
        raise ValueError("all topics would be hidden; leave at least one")


def folded(fitted: Fitted, edits: Edits | None) -> Folding:
    """A model's topics with edits, which must be about them."""
    if edits is not None:
        check_kind("edits", edits, Edits)
        check_edits(edits, fitted)
    return Folding(fitted, edits)


@guarded
def _alone(directory: Path) -> Iterator[None]:
    """Hold the folder; wait a while for others who write there."""
    last = time.monotonic() + PATIENCE
    while True:
        try:
            with told(directory / FILE):
                lock = locked(directory)
                lock.__enter__()
            break
        except StoreError as error:
            if isinstance(error.__cause__, OSError) or time.monotonic() > last:
                raise
            time.sleep(PAUSE)
            let_through()
    try:
        yield
    finally:
        lock.__exit__(None, None, None)


def carries_edits(directory: Path, fitted: Fitted) -> bool:
    """Whether an update of a model is to take its edits along: not those of another model that was here before."""
    with catch_warnings():
        simplefilter("ignore", DilnWarning)
        return not (directory / FILE).exists() or bool(read_edits(directory, fitted))


def carry_edits(directory: Path, fitted: Fitted, *, before: bool) -> None:
    """Have the edits of a model be those of what it was updated to; whoever calls holds the folder.

    ``before`` it is written, the topics are known by the words that they had and those that they will have, so that the
    edits are found again whichever of the two models a killed process leaves.
    """
    path = directory / FILE
    if not path.exists():
        return
    content = read_json(path)
    edits = _edits(path, content)
    words = {str(topic): _words(topic, fitted) for topic in edits.topics}
    if before:
        words = {topic: list(dict.fromkeys((*content["topics"][topic], *fresh))) for topic, fresh in words.items()}
    write_whole(path, dumps({**content, "topics": words}, indent=1, sort_keys=True) + "\n")


def _content(edits: Edits, fitted: Fitted) -> dict[str, Any]:
    words = {str(topic): _words(topic, fitted) for topic in edits.topics}
    return {"format": FORMAT, "schema": SCHEMA, "changes": edits.to_json()["changes"], "topics": words}


def _words(topic: int, fitted: Fitted) -> list[str]:
    top = np.argsort(-fitted.topic_word[topic], kind="stable")[:WORDS]
    return [fitted.vocabulary[term] for term in top.tolist()]


def _same(words: list[str], topic: int, fitted: Fitted) -> bool:
    """Whether a topic is still there, and has some of the words that it had."""
    if topic >= fitted.posterior.n_topics:
        return False
    now = _words(topic, fitted)
    return len(set(words) & set(now)) >= min(SAME, len(now))


def _edits(path: Path, content: dict[str, Any]) -> Edits:
    """The edits that a file's content says, or an error that says what is wrong with it."""
    if content.get("format") != FORMAT:
        raise _wrong(path, "it does not hold edits")
    schema = content.get("schema")
    if type(schema) is not int or schema < SCHEMA:
        raise _wrong(path, "it has no number of its format")
    if schema > SCHEMA:
        raise StoreError(f"{path}: it was written by a newer diln; install that, or remove the file")
    try:
        changes, words = content["changes"], content["topics"]
        if set(content) != {"format", "schema", "changes", "topics"} or not isinstance(changes, list):
            raise ValueError("it has other parts than those that were written")
        if not isinstance(words, dict) or not all(map(_is_words, words.values())):
            raise ValueError("it does not tell the topics' words")
        edits = Edits(tuple(_change(one) for one in changes))
        if set(words) != {str(topic) for topic in edits.topics}:
            raise ValueError("it does not tell the words of the topics that it names")
        return edits
    except (KeyError, TypeError, AttributeError):
        raise _wrong(path, "it is not of the form that was written") from None
    except ValueError as error:
        raise _wrong(path, str(error)) from None


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _change(value: Any) -> Change:
    topics, label = value["topics"], value["label"]
    whole = isinstance(topics, list) and topics and all(type(one) is int and one >= 0 for one in topics)
    if set(value) != {"action", "topics", "label"} or value["action"] not in ACTIONS or not whole:
        raise ValueError("it has a change that is none")
    if len(set(topics)) != len(topics) or checked_label(label) != label:
        raise ValueError("it has a change that is none")
    if label and not value["action"].startswith("rename"):
        raise ValueError("it has a change that is none")
    return Change(value["action"], tuple(topics), label)


def _wrong(path: Path, what: str) -> StoreError:
    return StoreError(f"{path}: {what}; restore the file from a copy, or remove it to be without names and merges")
