"""Make the tables of files.md from what is declared, between the lines that name them.

python docs/formats.py

A test compares the page with what this makes.
"""

import re
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

from diln.analysis.index import layout as index
from diln.corpus import layout as corpus
from diln.fields import REQUIRED, Field, Tensor
from diln.files.frame import FILE, NOTE, VERSIONS
from diln.models import layout as models
from diln.models.declared import about_of
from diln.models.frame import FILES, FRAME, SHARDS
from diln.models.options import INFERENCES, MODELS, options_of

PAGE = Path(__file__).parent / "files.md"
TABLE = re.compile(r"<!-- table: ([a-z ]+) -->\n.*?<!-- end -->", re.DOTALL)
RECORDS: dict[str, tuple[Field, ...]] = {
    "frame": FRAME,
    "files": FILES,
    "shards": SHARDS,
    "note": NOTE,
    "file": FILE,
    "versions": VERSIONS,
    "model": models.MODEL_CONTENT,
    "state": models.STATE,
    "history": models.PROGRESS,
    "sampled": models.SAMPLED,
    "numbers": models.NUMBERS,
    "stream": models.STREAM,
    "born": models.BORN,
    "rule": corpus.RULE,
    "columns read": corpus.COLUMNS_READ,
    "checkpoint": models.CHECKPOINT_CONTENT,
    "chain": models.CHAIN,
    "run": models.RUN,
    "corpus": corpus.MANIFEST,
    "tally": corpus.TALLY,
    "shard": corpus.SHARD,
    "array": corpus.ARRAY,
    "index": index.INDEX,
    "indexed": index.INDEXED,
}
TENSORS: dict[str, tuple[Tensor, ...]] = {
    "state tensors": models.STATE_TENSORS,
    "sum tensors": models.SUM_TENSORS,
    "spread tensors": models.SPREAD_TENSORS,
    "variational tensors": models.VARIATIONAL_TENSORS,
    "agreement tensors": models.AGREEMENT_TENSORS,
    "trained tensors": models.TRAINED_TENSORS,
    "stream tensors": models.STREAM_TENSORS,
    "document tensors": models.DOCUMENT_TENSORS,
    "average tensors": models.AVERAGE_TENSORS,
    "index arrays": index.INDEX_ARRAYS,
}


def filled(text: str) -> str:
    """A page with its tables as they are declared now."""
    return TABLE.sub(lambda found: f"<!-- table: {found[1]} -->\n\n{table(found[1])}\n\n<!-- end -->", text)


def table(name: str) -> str:
    """A table by name."""
    if name == "parameters":
        return parameters()
    if name == "columns":
        return lines(("Column", "What it is"), ((f"`{one}`", about) for one, about in corpus.COLUMNS.items()))
    if name in TENSORS:
        rows = ((f"`{one.name}`", one.dtype, f"({', '.join(one.dims)})", one.about) for one in TENSORS[name])
        return lines(("Tensor", "Type", "Dimensions", "What it is"), rows)
    rows = ((f"`{one.name}`", one.kind, default(one), one.about) for one in RECORDS[name])
    return lines(("Field", "Type", "If missing", "What it is"), rows)


def default(one: Field) -> str:
    """What stands for a field that is missing."""
    if one.default is REQUIRED:
        return "refused"
    value = one.default() if callable(one.default) else one.default
    words = {None: "null", True: "true", False: "false"}.get(value) if isinstance(value, bool | None) else None
    return words or (f'"{value}"' if isinstance(value, str) else str(value))


def parameters() -> str:
    """Every parameter, and which models and inferences have it."""
    found: dict[str, list[str]] = {}
    for kind in MODELS:
        for way in INFERENCES:
            for name in options_of(kind, way):
                found.setdefault(name, []).append(f"{kind} {way}")
    return lines(
        ("Parameter", "Of", "What it is"), ((f"`{name}`", of(each), said(name)) for name, each in found.items())
    )


def of(each: list[str]) -> str:
    """Models and inferences that have a parameter, in words."""
    kinds = list(dict.fromkeys(one.split()[0] for one in each))
    ways = list(dict.fromkeys(one.split()[1] for one in each))
    words = "all" if len(kinds) == len(MODELS) else ", ".join(kinds)
    return words if len(ways) == len(INFERENCES) else f"{words}; {ways[0]}"


def said(name: str) -> str:
    """What a parameter is."""
    for owner in (*MODELS.values(), *INFERENCES.values()):
        for one in fields(owner):
            if one.name == name:
                return about_of(one).text
    raise KeyError(name)


def lines(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    head = list(header)
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *cells))


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
