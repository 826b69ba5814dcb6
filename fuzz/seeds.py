"""Sound inputs, small, one of every kind: made once, before any is spoilt."""

import gzip
import io
import json
import shutil
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow import parquet
from scipy.sparse import csr_array, csr_matrix, save_npz

import diln
from diln.models.base import ESTIMATORS, TopicModel
from diln.models.checkpoints import Checkpoints
from diln.models.counts import MatrixRows, as_rows, whole
from diln.models.fitting import fit
from diln.models.options import Sampling, flat
from diln.models.parameters import parameters_of

WORDS = "red fox runs far blue dog sleeps deep green bird sings long white horse eats grass".split()
RECORDS = [

    {"id": "a1", "title": "Red fox", "date": "2017-03-02", "label": "one", "text": "The red fox runs far, far away."},
    {"id": "b2", "title": "\x1b[2J\u202eDog", "date": "3 Mar 2017", "label": "two", "text": 'A "blue" dog, red fox.'},
    {"id": "c3", "title": "", "date": "", "label": "", "text": "Green bird sings long\nand white horse eats grass"},
    {"id": "d4", "title": "Été", "date": "1999", "label": "one", "text": "Été naïve fox 中文 dog grass"},
    {"id": "e5", "title": "Nothing", "date": "3 May 2020", "label": "two", "text": ""},
]  # fmt: skip
COLUMNS = list(RECORDS[0])
Files = dict[str, bytes]  # of a folder, by their paths in it


def _csv(delimiter: str) -> bytes:
    lines = [COLUMNS, *([record[name] for name in COLUMNS] for record in RECORDS)]
    quoted = (delimiter.join('"' + cell.replace('"', '""') + '"' for cell in line) for line in lines)
    return "\n".join(quoted).encode() + b"\n"


def _bytes(write: Any) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def counts(n_docs: int = 12, n_terms: int = len(WORDS), seed: int = 0) -> csr_matrix:
    """A small table of counts."""
    return csr_matrix(np.random.default_rng(seed).poisson(0.7, (n_docs, n_terms)))


TABLE = pyarrow.table({name: [record[name] for record in RECORDS] for name in COLUMNS})
BAGS = [[(0, 2), (3, 1)], [(1, 1), (2, 4), (15, 1)], [], [(5, 3)]]
LINES = "\n".join(record["text"].replace("\n", " ") for record in RECORDS).encode() + b"\n"
JSONL = "\n".join(map(json.dumps, RECORDS)).encode() + b"\n"
TRIPLES = [(d + 1, w + 1, n) for d, bag in enumerate(BAGS) for w, n in bag]
SOURCES: Files = {
    "lines.txt": LINES,
    "table.csv": _csv(","),
    "table.tsv": _csv("\t"),
    "records.jsonl": JSONL,
    "records.json": json.dumps(RECORDS).encode(),
    "table.parquet": _bytes(lambda file: parquet.write_table(TABLE, file)),
    "bags.ldac": "".join(f"{len(bag)} {' '.join(f'{w}:{n}' for w, n in bag)}\n" for bag in BAGS).encode(),
    "docword.bags.txt": "\n".join(
        [f"{len(BAGS)}\n{len(WORDS)}\n{len(TRIPLES)}", *(f"{d} {w} {n}" for d, w, n in TRIPLES)]
    ).encode(),
    "counts.npz": _bytes(lambda file: save_npz(file, counts())),
}
SOURCES |= {
    f"{name}.gz": gzip.compress(SOURCES[name], mtime=0)
    for name in ("lines.txt", "table.csv", "records.jsonl", "bags.ldac")
}
VOCABULARY = "\n".join(WORDS).encode() + b"\n"
STOP_WORDS = b"# some words\nthe\nand  | a comment\nfrom\n"


def stream() -> diln.Corpus:
    """Documents of known terms and of others."""
    documents = [[*WORDS[i % 3 :: 3], "zither", "lute" if i % 2 else f"rare{i}"] for i in range(12)]
    return diln.Corpus.from_tokens(documents, min_df=1, max_df=1.0)


class Quiet:
    """A watch that says nothing."""

    def note(self, text: str) -> None:
        """Something was guessed."""

    def step(self, position: int, total: int, documents: int) -> None:
        """Some was read."""


@dataclass
class Seeds:
    """What has to be fitted or built: folders as bytes, and estimators."""

    models: dict[str, Files] = field(default_factory=dict)
    estimators: dict[str, TopicModel] = field(default_factory=dict)
    checkpoints: dict[str, tuple[Any, Files]] = field(default_factory=dict)
    corpora: dict[str, Files] = field(default_factory=dict)
    updated: dict[str, Files] = field(default_factory=dict)  # models that have been updated

    @classmethod
    def made(cls) -> "Seeds":
        """All of them; the loops that they need are compiled on the way."""
        root, seeds = Path(tempfile.mkdtemp(prefix="diln-fuzz-seeds-")), cls()
        try:
            for kind, estimator in ESTIMATORS.items():
                for inference in ("sampling", "variational"):
                    seeds._fit(
                        root, f"{kind} {inference}", estimator(3, max_iter=3, inference=inference, random_state=1)
                    )
            chains = Sampling(n_chains=2, keep_states=2)
            seeds._fit(root, "DILN chains", diln.DILN(3, max_iter=4, inference=chains, random_state=1))
            for kind in ("DILN", "CTM", "LDA"):
                for method in ("batch", "online"):
                    seeds._checkpoint(root, kind, method)
            seeds._corpora(root)
            for kind in ("DILN", "HDP", "CTM"):
                seeds._update(root, kind)
        finally:
            shutil.rmtree(root)
        return seeds

    def _fit(self, root: Path, name: str, model: TopicModel) -> None:
        rows = counts()
        model.fit(rows)
        model.vocabulary_ = WORDS
        model.transform(rows)
        model.perplexity(rows)
        getattr(model, "topic_lift_", None)  # reads a table of SciPy's
        model.save(root / name)
        self.models[name], self.estimators[name] = read(root / name), diln.load(root / name)
        self.estimators[name].partial_fit(rows)  # what loaded models go on with is compiled, too
        self.estimators[name] = diln.load(root / name)

    def _update(self, root: Path, kind: str) -> None:
        """A model with what is kept of a stream: candidates, scores, and documents that it explains badly."""
        model = ESTIMATORS[kind](3, max_iter=3, random_state=1, inference=Sampling(batch_size=10)).fit(counts())
        model.vocabulary_ = WORDS
        births = None if kind == "CTM" else True
        model.update(stream(), min_docs=3, new_topics=births)
        kept: Any = model.fitted_.stream
        kept.pooled(as_rows(counts(4, len(model.vocabulary_), seed=3)))
        model.save(root / f"{kind} updated")
        self.updated[kind] = read(root / f"{kind} updated")
        diln.load(root / f"{kind} updated").update(stream(), new_topics=births)

    def _checkpoint(self, root: Path, kind: str, method: str) -> None:
        model = ESTIMATORS[kind](
            3, max_iter=3, learning_method=method, random_state=1, inference=Sampling(batch_size=5)
        )
        parameters, name = parameters_of(kind, flat(model)), f"{kind} {method}"
        fit(parameters, checked(counts()), WORDS, None, Checkpoints(root / f"{name} on its way", 0))
        self.checkpoints[name] = parameters, read(root / f"{name} on its way")

    def _corpora(self, root: Path) -> None:
        (root / "records.jsonl").write_bytes(JSONL)
        (root / "lines.txt").write_bytes(LINES)
        diln.corpus.build(root / "records.jsonl", root / "built", watch=Quiet())
        self.corpora["texts"] = read(root / "built")
        diln.corpus.append(root / "lines.txt", root / "built", grow=True, watch=Quiet())
        self.corpora["two shards"] = read(root / "built")
        diln.Corpus.from_matrix(counts(), WORDS).save(root / "matrix")
        self.corpora["counts"] = read(root / "matrix")


def checked(rows: Any) -> MatrixRows:
    """Counts in the form that sampling takes."""
    return MatrixRows(as_rows(whole(as_rows(csr_array(rows)))))


def read(folder: Path) -> Files:
    """The files of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def write(files: Files, folder: Path) -> None:
    """The folder of these files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        path = folder / name
        if "/" in name:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@cache
def seeds() -> Seeds:
    """The sound folders and estimators, made once."""
    return Seeds.made()
