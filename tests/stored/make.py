"""Small stored corpora, models and checkpoints of a schema, and the numbers that they lead to.

    python tests/stored/make.py              writes anew the files of the schema that the code writes now
    python tests/stored/make.py --expect     writes anew what the stored files of all schemas lead to

The first is for a format that has changed, the second for numbers that have moved, both on purpose. Files of earlier
schemas stay as they are: what a version has written, every later one reads.
"""

import json
import shutil
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

import diln
from diln.corpus import layout as corpus_layout
from diln.corpus.building import append, build
from diln.fields import REQUIRED, Field
from diln.inference.weights.gaussian_draws import GaussianDraws
from diln.inference.weights.located_draws import LocatedDraws
from diln.models import fitting, layout
from diln.models.checkpoints import Checkpoints
from diln.models.counts import CorpusRows
from diln.models.files import MODEL
from diln.models.frame import FRAME
from diln.models.options import INFERENCES, options_of
from diln.models.parameters import parameters_of

KINDS = ("DILN", "HDP", "LDA", "CTM")
HERE = Path(__file__).parent
THEMES = (
    "harbour sail anchor tide mast crew reef buoy",
    "oven flour yeast crust salt dough loaf butter",
    "violin chord tempo opera choir cello fugue naïve étude",
)
DIGITS = 8  # that expected numbers are stored with


def documents(number: int, seed: int = 0) -> list[dict[str, str]]:
    """Documents of ours, of one theme and a little of another."""
    rng, themes = np.random.default_rng(seed), [theme.split() for theme in THEMES]
    found = []
    for i in range(number):
        words = [*rng.choice(themes[i % 3], 9), *rng.choice(themes[(i + 1) % 3], 3)]
        about = {"title": f"Nº {i}", "date": f"2021-0{1 + i % 9}-1{i % 10}", "label": "abc"[i % 3]}
        found.append({"id": f"doc-{i}", **about, "text": " ".join(words)})
    return found


def write_lines(path: Path, found: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in found), encoding="utf-8")
    return path


def make_corpora(folder: Path, scratch: Path) -> None:
    """One of text, of two shards and all columns; one of a matrix."""
    every, options = documents(12), {"min_df": 1, "max_df": 1.0}
    given = {"text": "text", "id": "id", "title": "title", "date": "date", "label": "label"}
    build(write_lines(scratch / "first.jsonl", every[:8]), folder / "text", **options, **given)
    append(write_lines(scratch / "more.jsonl", every[8:]), folder / "text", **given)
    diln.Corpus.from_matrix(np.arange(12).reshape(3, 4), ["a", "b", "c", "d"]).save(folder / "matrix")


def sampling(**given: Any) -> diln.Sampling:
    return diln.Sampling(**{"max_doc_update_iter": 20, **given})


def estimators() -> dict[str, Any]:
    """Models before fitting, by the name of what is stored."""
    few = {"max_iter": 4, "random_state": 0}
    passes = {"max_iter": 2, "random_state": 0, "inference": "variational"}
    learned = {"n_components": "auto", "location_variance": "auto", "topic_word_prior": "auto", "n_dims": 2}
    return {
        "diln-sampling": diln.DILN(3, n_dims=2, **few, inference=sampling()),
        "diln-chains": diln.DILN(3, n_dims=2, **few, inference=sampling(n_chains=2)),
        "diln-states": diln.DILN(3, n_dims=2, **few, inference=sampling(keep_states=2)),
        "diln-learned": diln.DILN(**learned, max_iter=4, random_state=np.random.default_rng(0)),
        "diln-variational": diln.DILN(3, n_dims=2, **passes),
        "diln-more": diln.DILN(3, n_dims=2, **few),
        "diln-variational-more": diln.DILN(3, n_dims=2, **passes),
        "hdp-sampling": diln.HDP(3, **few, alpha_prior=(2.0, 1.0)),
        "hdp-frame": diln.HDP(3, **few),
        "hdp-variational": diln.HDP(3, **passes),
        "lda-sampling": diln.LDA(3, **few),
        "lda-chains": diln.LDA(3, **few, inference=sampling(n_chains=2, keep_states=1)),
        "lda-learned": diln.LDA(3, **few, doc_topic_prior="auto"),
        "lda-variational": diln.LDA(3, **passes),
        "lda-variational-learned": diln.LDA(3, **passes, doc_topic_prior="auto"),
        "ctm-sampling": diln.CTM(3, **few),
        "ctm-chains": diln.CTM(3, **few, inference=sampling(n_chains=2, keep_states=1)),
        "ctm-variational": diln.CTM(3, **passes),
        "ctm-more": diln.CTM(3, **few),
        "hdp-updated": diln.HDP(3, **few),
    }


def make_models(folder: Path, corpus: diln.Corpus) -> None:
    """One of every model and inference, and of every option that changes what is stored."""
    for name, model in estimators().items():
        kind = name.rpartition("-")[2]
        frame = pd.DataFrame(corpus.counts.toarray(), columns=corpus.vocabulary)
        model.fit(frame if kind == "frame" else corpus)
        if kind == "more":
            model.partial_fit(corpus[:5])
        if kind == "updated":
            model.update(["violin zither zither lute", "lute zither cello", "cello mandola"], min_docs=2)
        model.save(folder / name)


class StopAt:
    """Ends a fit after so many sweeps or steps."""

    def __init__(self, number: int) -> None:
        self.left = number

    def look(self, progress: Any) -> None:
        self.left -= 1
        if not self.left:
            raise InterruptedError


SHORT = {"n_components": 3, "max_iter": 8, "random_state": 0, "keep_states": 2, "max_doc_update_iter": 8}
START_SWEEPS = 6  # of the chain that online learning starts from, so that its history is short
STEPS = {"n_components": 3, "max_iter": 2, "random_state": 0, "learning_method": "online", "batch_size": 4}
FITS: dict[str, tuple[str, dict[str, Any], int]] = {  # kind, parameters, and after which sweep or step it was stopped
    "diln-closed": ("DILN", {**SHORT, "n_dims": 2}, 2),
    "diln-open": ("DILN", {**SHORT, "n_dims": 2}, 7),
    "diln-learned": ("DILN", {**SHORT, "n_components": "auto", "n_dims": 2, "location_variance": "auto"}, 4),
    "diln-chains": ("DILN", {**SHORT, "n_dims": 2, "n_chains": 2}, 11),
    "diln-online": ("DILN", {**STEPS, "n_dims": 2}, START_SWEEPS + 3),
    "hdp-open": ("HDP", SHORT, 7),
    "lda-open": ("LDA", SHORT, 7),
    "ctm-closed": ("CTM", SHORT, 2),
    "ctm-open": ("CTM", SHORT, 7),
    "ctm-online": ("CTM", STEPS, START_SWEEPS + 3),
}


def make_checkpoints(folder: Path, corpus: diln.Corpus) -> None:
    """Of every model, before and after its weights open, and of online learning."""
    with (
        patch.object(LocatedDraws, "start_sweeps", START_SWEEPS),
        patch.object(GaussianDraws, "start_sweeps", START_SWEEPS),
    ):
        for name, (kind, given, after) in FITS.items():
            with suppress(InterruptedError):
                resumed(folder / name, kind, given, corpus, 0, StopAt(after))
                raise AssertionError(f"{name} was not stopped")


def resumed(
    directory: Path, kind: str, given: dict[str, Any], corpus: diln.Corpus, every: float = 1e9, look: Any = None
) -> Any:
    """The model of a fit that goes on from what is there."""
    kept, rows = Checkpoints(directory, every, resume=True), CorpusRows(corpus)
    return fitting.fit(parameters_of(kind, given), rows, corpus.vocabulary, look, kept)


def plain(array: Any) -> Any:
    """Numbers as they are kept in JSON."""
    return np.vectorize(lambda one: float(f"{one:.{DIGITS}g}"), otypes=[float])(np.asarray(array)).tolist()


def seen(model: Any, corpus: diln.Corpus) -> dict[str, Any]:
    """What can be seen of a fitted model, and what it comes to when it goes on."""
    found = {"topics": plain(model.topic_word_), "proportions": plain(model.transform(corpus))}
    if hasattr(model, "topic_covariance_"):
        found["covariance"] = plain(model.topic_covariance_)
    model.partial_fit(corpus[3:9])
    return {**found, "more": plain(model.transform(corpus))}


def seen_corpus(corpus: diln.Corpus) -> dict[str, Any]:
    """What can be seen of a corpus."""
    found = [asdict(document) for document in corpus.documents]
    return {"counts": corpus.counts.toarray().tolist(), "vocabulary": list(corpus.vocabulary), "documents": found}


def expect(folder: Path, scratch: Path) -> dict[str, Any]:
    """What the stored files of a schema lead to."""
    shutil.copytree(folder, scratch, dirs_exist_ok=True)
    corpus = diln.Corpus.open(folder / "corpora" / "text")
    fits = json.loads((folder / "fits.json").read_text(encoding="utf-8"))
    return {
        "corpora": {path.name: seen_corpus(diln.Corpus.open(path)) for path in sorted((folder / "corpora").iterdir())},
        "models": {path.name: seen(diln.load(path), corpus) for path in sorted((folder / "models").iterdir())},
        "checkpoints": {
            name: plain(resumed(scratch / "checkpoints" / name, kind, given, corpus).topic_word)
            for name, (kind, given) in fits.items()
        },
    }


def described(record: tuple[Field, ...]) -> dict[str, Any]:
    """Fields by name: what each must be, whether it must be there, and the fields of records."""
    return {
        one.name: [one.kind, one.default is REQUIRED, described(one.of)]
        if one.of
        else [one.kind, one.default is REQUIRED]
        for one in record
    }


def tensor_forms(directory: Path) -> dict[str, Any]:
    """The tensors of a stored model or checkpoint by name: types and shapes."""
    manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    data = (directory / manifest["files"]["tensors.safetensors"]["file"]).read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return {name: [one["dtype"], one["shape"]] for name, one in header.items()}


def array_forms(directory: Path) -> dict[str, Any]:
    """The arrays of a stored corpus by name: their types."""
    manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    return {name: entry["dtype"] for shard in manifest["shards"] for name, entry in shard["files"].items()}


def form(folder: Path) -> dict[str, Any]:
    """The form of files: all declared fields and tensors, every parameter, and the tensors of some that are stored."""
    return {
        "corpus": described(corpus_layout.MANIFEST),
        "columns": sorted(corpus_layout.COLUMNS),
        "frame": described(FRAME),
        "model": described(layout.MODEL_CONTENT),
        "numbers": described(layout.NUMBERS),
        "checkpoint": described(layout.CHECKPOINT_CONTENT),
        "tensors": {f"{one.name} ({number})": [one.dtype, one.dims] for number, one in enumerate(layout.EVERY_TENSOR)},
        "parameters": {f"{kind} {way}": sorted(options_of(kind, way)) for kind in KINDS for way in INFERENCES},
        "stored": {
            f"{path.parent.name}/{path.name}": array_forms(path)
            if path.parent.name == "corpora"
            else tensor_forms(path)
            for path in sorted(folder.glob("*/*"))
        },
    }


def write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=None, sort_keys=True) + "\n", encoding="utf-8")


def main() -> None:
    """Write anew what is asked for."""
    scratch = HERE / ".scratch"
    now = HERE / f"schema{MODEL.schema}"
    scratch.mkdir()
    try:
        if sys.argv[1:] != ["--expect"]:
            shutil.rmtree(now, ignore_errors=True)
            make_corpora(now / "corpora", scratch)
            corpus = diln.Corpus.open(now / "corpora" / "text")
            make_models(now / "models", corpus)
            make_checkpoints(now / "checkpoints", corpus)
            write_json(now / "form.json", form(now))
            write_json(now / "fits.json", {name: [kind, given] for name, (kind, given, _) in FITS.items()})
        for folder in sorted(HERE.glob("schema*")) if sys.argv[1:] == ["--expect"] else [now]:
            write_json(folder / "expected.json", expect(folder, scratch / folder.name))
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
