"""Where the documents of a chain come from: shards of them, made from counts, written to files and read back."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors
import safetensors.numpy

from diln.engine.base import Home, Note
from diln.errors import StoreError
from diln.fields import MismatchError, Tensor, TensorError, check_tensors
from diln.files import open_as_it_is, unreadable
from diln.files import whole as whole_file
from diln.inference.data import Array, Tokens
from diln.inference.sampling.documents import HeldDocuments, ShardRange
from diln.inference.sampling.state import SampledDocuments, State
from diln.inference.weights.draws import WeightDraws
from diln.models.counts import Rows, whole
from diln.models.layout import DOCUMENT_TENSORS

MEND = "begin anew with --force in place of --resume"


@dataclass(frozen=True)
class RowsHome(Home):
    """A shard of some rows of counts: documents first to last, in random order where they come into play in turn."""

    number: int
    weight: float  # tokens
    rows: Rows
    first: int
    last: int
    shuffled: tuple[int, ...] | None  # seed of the order; None: as they are
    weights: WeightDraws
    start: State  # of a corpus before the first sweep, without its terms

    def order(self) -> Array:
        """The documents of the shard, by their rows."""
        order = np.arange(self.first, self.last)
        if self.shuffled is None:
            return order
        own = (self.number,) if self.number else ()
        return self.first + np.random.default_rng([*self.shuffled, *own]).permutation(self.last - self.first)

    def __reduce__(self) -> tuple[Any, ...]:
        """For another process, with no other documents than its own."""
        rows = self.rows.sent(self.first, self.last)
        known = (self.number, self.weight, rows, self.first, self.last, self.shuffled, self.weights, self.start)
        return RowsHome, known

    def make(self) -> Any:
        """Documents whose tokens have no topic yet."""
        order = self.order()
        tokens = Tokens.of(whole(self.rows.take(order)))
        return SampledDocuments.new(
            tokens, self.weights.documents(self.start, tokens.n_docs), self.rows.numbers(order), self.first
        )

    def write(self, shard: Any, path: Path) -> Note:
        """Write the tokens' topics, and what the weights know of documents."""
        docs = shard.opened()
        data = safetensors.numpy.save({"topics": docs.topics, **docs.places._asdict()})
        with whole_file(path) as file:
            file.write(data)
        return {"bytes": len(data), "sha256": sha256(data).hexdigest()}

    def read(self, path: Path, note: Note) -> Any:
        """Documents as they were when they were written."""
        tensors, shard = read_noted(path, note), self.make()
        docs = shard.opened()
        try:
            check_arrays(tensors, len(docs), docs.tokens.size)
            return shard.restored(tensors["topics"], record_of(self.weights, tensors))
        except MismatchError as error:
            raise StoreError(f"{path}: the file {error}; the checkpoint is damaged: {MEND}") from None


def record_of(weights: WeightDraws, tensors: dict[str, Array]) -> Any:
    """What the weights know of documents, from arrays by name."""
    names = set(tensors) - {"topics"}
    record = max(weights.places, key=lambda one: len(names.intersection(one._fields)))
    for name in sorted(names.symmetric_difference(record._fields)):
        raise TensorError(
            f"has a tensor {name!r}, which such a model has not" if name in names else f"lacks tensor {name!r}"
        )
    return record(*(tensors[name] for name in record._fields))


def read_noted(path: Path, note: Note) -> dict[str, Array]:
    """The tensors of a file that is as it is noted to be."""
    try:
        with open_as_it_is(path) as file:
            data = file.read(note["bytes"] + 1)
        if len(data) != note["bytes"] or sha256(data).hexdigest() != note["sha256"]:
            raise StoreError(f"{path}: the file does not match its checksum; the checkpoint is damaged: {MEND}")
        return {name: np.array(array) for name, array in safetensors.numpy.load(data).items()}
    except FileNotFoundError:
        raise StoreError(f"{path}: the file is missing; the checkpoint is damaged: {MEND}") from None
    except OSError as error:
        raise unreadable(path, error) from None
    except (safetensors.SafetensorError, ValueError, TypeError, KeyError):
        raise StoreError(f"{path}: the file does not hold tensors; the checkpoint is damaged: {MEND}") from None


def check_arrays(tensors: dict[str, Array], n_docs: int, n_tokens: int) -> None:
    """Raise unless these are arrays of so many documents and tokens; how wide they are is seen to later."""
    known = {one.name: one for one in DOCUMENT_TENSORS}
    wide = {f"{name} {i}": size for name, array in tensors.items() for i, size in enumerate(array.shape)}
    expected = {name: as_wide(known.get(name), name, array) for name, array in tensors.items()}
    expected.setdefault("topics", known["topics"])
    check_tensors(expected, tensors, {**wide, "documents": n_docs, "tokens": n_tokens})


def as_wide(known: Tensor | None, name: str, array: Array) -> Tensor:
    """The declaration of an array of documents, as wide as it is."""
    if name == "topics" and known is not None:
        return known
    shape = ("documents", *(f"{name} {i}" for i in range(1, array.ndim)))
    return Tensor(name, str(array.dtype), shape, "") if known is None else replace(known, dims=shape)


def homes_of(
    rows: Rows,
    ranges: list[ShardRange],
    weights: WeightDraws,
    state: State,
    shuffled: tuple[int, ...] | None,
    home: Callable[..., RowsHome] = RowsHome,
) -> list[RowsHome]:
    """The homes of all shards, each of which ``home`` makes."""
    start = state.uncounted()
    return [
        home(number, float(n_tokens), rows, first, last, shuffled, weights, start)
        for number, (first, last, n_tokens) in enumerate(ranges)
    ]


class WholeDocuments(NamedTuple):
    """What a checkpoint of a former version holds of documents: all of them in one, in the order of the corpus."""

    topics: Array
    places: Any
    starts: dict[int, int]  # tokens before a shard, by the number of its first document


def apart(tensors: dict[str, Array], weights: WeightDraws) -> tuple[dict[str, Array], dict[str, Array]]:
    """Tensors of the corpus, and those of documents, which former versions stored with them."""
    names = {"topics", *(name for record in weights.places for name in record._fields)}
    mine = {name: array for name, array in tensors.items() if name in names}
    return {name: array for name, array in tensors.items() if name not in names}, mine


def take_documents(docs: HeldDocuments, tensors: dict[str, Array], weights: WeightDraws) -> None:
    """Bring documents to where a former version of diln has left them."""
    check_arrays(tensors, docs.n_docs, docs.n_tokens)
    before = accumulate((one.n_tokens for one in docs.ranges), initial=0)
    starts = {one.first: start for one, start in zip(docs.ranges, before, strict=False)}
    topics, places = tensors["topics"], record_of(weights, tensors)
    docs.held.replace(take_part, WholeDocuments(topics, places, starts))


def take_part(shard: Any, given: WholeDocuments) -> Any:
    """A shard with its part of all documents."""
    docs = shard.opened()
    rows, start = slice(docs.start, docs.start + len(docs)), given.starts[docs.start]
    places = type(given.places)(*(array[rows].copy() for array in given.places))
    return shard.restored(given.topics[start : start + docs.tokens.size].copy(), places)
