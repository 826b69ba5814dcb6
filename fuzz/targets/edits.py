"""Spoilt files of edits, and texts of any kind for a model to read."""

import json
from typing import Any

from diln import LDA, Corpus
from diln.analysis import Atlas, Edits
from diln.analysis.edit_files import FILE, change_edits, read_edits
from fuzz.case import Case, Run, target
from fuzz.judge import WrongError
from fuzz.mutate import octets, tree
from fuzz.seeds import RECORDS, WORDS

TEXTS = [record["text"] for record in RECORDS]
SOUND = Edits().rename(0, "Red things").merge([1, 2]).hide([3]).rename_theme([0, 1], "Animals")
LETTERS = [
    *"aeiou XYZ.,-\n\t\0",
    "e\u0301",
    "\u0301",
    "\u00ad",
    "İ",
    "ß",
    "Σ",
    "中",
    "\u1100\u1161",
    "\ud800",
    "😀",
    "fox",
    "dog ",
]
_made: list[Atlas] = []


def atlas() -> Atlas:
    """A model with its documents, made once."""
    if not _made:
        corpus = Corpus.from_texts(TEXTS * 4, min_df=1, max_df=1.0, ngram_range=(1, 2))
        _made.append(Atlas(LDA(5, max_iter=3, random_state=0).fit(corpus), corpus))
    return _made[0]


@target(2, strict=True)
def edits_file(case: Case) -> Run:
    """A spoilt file of edits beside a sound model, read, used and changed."""
    fitted = atlas().fitted
    case.folder.mkdir(parents=True, exist_ok=True)
    change_edits(case.folder, fitted, lambda _: SOUND)
    data = (case.folder / FILE).read_bytes()
    if case.rng.random() < 0.5:
        data = octets.spoilt(case.spoiling, data, case.rounds, [json.dumps(WORDS).encode()])
    else:
        data = tree.text(tree.spoilt(case.spoiling, json.loads(data), min(case.rounds, 1))).encode(
            "utf-8", "surrogatepass"
        )
    (case.folder / FILE).write_bytes(data)

    def run() -> Any:
        edits = read_edits(case.folder, fitted)
        topics = Atlas(fitted, edits=edits).topics()
        change_edits(case.folder, fitted, lambda known: known.rename(4, "Another"))
        return [[topic.share for topic in topics], read_edits(case.folder, fitted).to_json()]

    return run


@target(1)
def text_read(case: Case) -> Run:
    """A text of any letters, read by a model: its pieces are the text."""
    text = "".join(case.rng.choice(LETTERS) for _ in range(case.rng.randrange(60)))
    row = case.rng.choice(TEXTS).encode()
    text += octets.spoilt(case.spoiling, row, case.rounds).decode("utf-8", "replace")

    def run() -> Any:
        reading = atlas().read_text(text)
        if "".join(token.text for token in reading.tokens) != text:
            raise WrongError("reading: the pieces are not the text")
        return [[topic.share for topic in reading.topics], [token.weight for token in reading.tokens]]

    return run
