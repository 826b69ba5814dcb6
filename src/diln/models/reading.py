"""Nothing that a file says of a model is used before it is found here to be what the model's kind must have."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from diln.corpus.candidates import ROOM
from diln.corpus.layout import check_rule
from diln.fields import (
    SHOWN,
    Field,
    MismatchError,
    Record,
    Tensor,
    TensorError,
    UnknownError,
    check_tensors,
    read,
    shown,
)
from diln.inference.data import Array
from diln.inference.emissions.multinomial_draws import TopicCounts
from diln.inference.followed import PAIR, Followed, pair_of
from diln.inference.sampling.chain import Chain, counted
from diln.inference.sampling.documents import Share
from diln.inference.sampling.run import ChainRun
from diln.inference.sampling.tokens import NO_TOPIC, SampledShard
from diln.inference.stats import Stats, layout, padded
from diln.inference.weights.draws import WeightDraws
from diln.inference.weights.gaussian import best_gaussian
from diln.models.agreement import PREFIX
from diln.models.checks import ParameterError
from diln.models.counts import MOST_TOKENS
from diln.models.declared import checked
from diln.models.layout import (
    AGREEMENT_TENSORS,
    AVERAGE_TENSORS,
    CHECKPOINT_CONTENT,
    EVERY_TENSOR,
    MODEL_CONTENT,
    MOST_TOPICS,
    NUMBERS,
    SPREAD_TENSORS,
    STATE_TENSORS,
    STREAM_TENSORS,
    SUM_TENSORS,
    TRAINED_TENSORS,
    VARIATIONAL_TENSORS,
)
from diln.models.options import INFERENCES, options_of
from diln.models.parameters import KINDS, Parameters, defaults, plain
from diln.models.stream import POOLED, POOLED_ENTRIES
from diln.models.trained import KEPT, TRAINED, TrainingSketch

Tensors = Mapping[str, Array]
APART = 0.01  # share of a topic's tokens that its total may be off by, for tables are of single precision
TENSORS = {one.name for one in EVERY_TENSOR}
ROUNDING = 1e-10  # share of a matrix's trace that no direction of it may fall below
INITS = ("draws", "kmeans", "random")


def model_content(content: Any) -> dict[str, Any]:
    """What a model's manifest says, as it is declared."""
    found = read(MODEL_CONTENT, content)
    if found["class"] not in KINDS:
        raise UnknownError(f"the class {shown(found['class'])}")
    if found["rule"] is not None:
        check_rule(found["rule"])
    return found


def checkpoint_content(content: Any) -> dict[str, Any]:
    """What a checkpoint's manifest says, as it is declared."""
    found = read(CHECKPOINT_CONTENT, content)
    if found[found["phase"]] is None:
        raise MismatchError(f"lacks {found['phase']}")
    if not isinstance(kind := found["fingerprint"].get("model"), str) or kind not in KINDS:
        raise UnknownError(f"the class {shown(kind)}")
    return found


def parameters_from(kind: str, stored: Mapping[str, Any], seed: int) -> Parameters:
    """The parameters that a model was stored with, checked as a user's are; those that it came before have defaults."""
    values = stored_values(kind, stored)
    if values["init"] not in INITS:  # another model, which has done its part
        values["init"] = defaults(kind, values["inference"])["init"]
    if isinstance(values["random_state"], str):  # a generator, of which the seed was drawn
        values["random_state"] = seed
    if not isinstance(seed := values["random_state"], int | None) or (seed or 0) < 0:
        raise MismatchError("has parameters whose random_state is no seed")
    for name, types in (("n_jobs", int | None), ("verbose", int | float)):
        if not isinstance(values[name], types):
            raise MismatchError(f"has parameters whose {name} is {shown(values[name])}")
    known = options_of(kind, values["inference"])
    try:
        made = KINDS[kind]({name: checked(one, _as_tuple(values[name])) for name, one in known.items()})
        made.check()
    except ParameterError as error:
        raise MismatchError(f"has parameters whose {error.name} {error.problem.partition(';')[0][:SHOWN]}") from None
    return made


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def stored_values(kind: str, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as ``to_json`` has them now, with defaults for those that came later; raise if one is unknown."""
    inference = stored.get("inference", "sampling")
    if not isinstance(inference, str) or inference not in INFERENCES:
        raise UnknownError(f"the inference {shown(inference)}")
    known = defaults(kind, inference)
    for name in stored:
        if name not in known:
            raise UnknownError(f"a parameter {shown(name)}")
    return {name: plain(value) if stored.get(name) is None else stored[name] for name, value in known.items()}


def check_model(content: Mapping[str, Any], parameters: Parameters, tensors: Tensors, n_terms: int) -> None:
    """Raise unless the tensors are those of such a model, and its numbers go with them, which come to be floats."""
    if (content["sampled"] is not None) != (parameters.inference == "sampling"):
        raise MismatchError("has numbers of sampling of a model that is none, or lacks those of one that is")
    if content["sampled"] is not None:
        expected, sizes = _sampled(content, parameters, tensors, n_terms)
    else:
        expected, sizes = _variational(parameters, n_terms)
    _check_pairs(content["history"], sizes["topics"])
    if content["n_chains"] is not None:
        expected |= by_name(AGREEMENT_TENSORS)
    if TRAINED in tensors:
        expected |= by_name(TRAINED_TENSORS)
        sizes |= {"hashes": min(tensors[TRAINED].size, KEPT)}
    if content["stream"] is not None:
        expected |= by_name(STREAM_TENSORS)
        sizes |= _stream_sizes(content["stream"], tensors)
    _check_all(expected, tensors, sizes)
    if content["stream"] is not None:
        _check_pool(tensors, n_terms)
    if content["n_chains"] is not None:
        _check_agreement(tensors, content["n_chains"])
    if not tensors["statistics" if content["sampled"] is None else "totals"].any():
        raise TensorError("has topics without a token")
    if content["sampled"] is not None:
        for end in _ends(content["sampled"]["states"]):
            _check_totals(tensors[f"table{end}"], tensors[f"totals{end}"], f"totals{end}")
    _check_squares(tensors)
    _check_trained(TrainingSketch.restored(tensors))
    _check_gaussian(tensors, getattr(parameters, "prior_documents", 1.0))
    if "precision" in tensors and content["sampled"] is not None:
        _check_precision(tensors["precision"], sizes["dims"], content["sampled"]["state"]["variance"])


def _sampled(
    content: Mapping[str, Any], parameters: Parameters, tensors: Tensors, n_terms: int
) -> tuple[dict[str, Tensor], dict[str, int]]:
    """The tensors of a model by sampling, and their sizes; its numbers are checked on the way."""
    numbers, weights = content["sampled"], parameters.draws()
    state = state_of(weights, tensors)
    read_numbers(state, numbers, "sampled", "state", "states")
    sizes = sizes_of(numbers["state"]["n_topics"], n_terms, getattr(weights, "n_dims", 0))
    expected = {f"{name}{end}": one for end in _ends(numbers["states"]) for name, one in arrays_of(state).items()}
    return expected | stats_tensors(weights.sums, SUM_TENSORS) | by_name(SPREAD_TENSORS), sizes


def _ends(states: list[Any]) -> list[str]:
    """Ends of the names of tensors: of the model's own state, and of those that are kept."""
    return ["", *(f".{i}" for i in range(len(states)))]


def _variational(parameters: Parameters, n_terms: int) -> tuple[dict[str, Tensor], dict[str, int]]:
    """The tensors of a model by variational inference, and their sizes."""
    dims = {"n_dims": 1} if "n_dims" in parameters.values else {}
    small = parameters.but(n_components=1, **dims).weights(np.random.default_rng(0))  # which needs no memory
    must = {"statistics", *small.tensors()}
    known = by_name(VARIATIONAL_TENSORS)
    expected = {name: one for name, one in known.items() if name in must or one.beside in must}
    sizes = sizes_of(parameters.truncation, n_terms, int(parameters.settled("n_dims")) if dims else 0)
    return expected | {name: _like(name, array) for name, array in small.tensors().items() if name not in known}, sizes


def _like(name: str, array: Array) -> Tensor:
    """A tensor of a model that the format does not know: a number for every topic, as many dimensions as it has."""
    return Tensor(name, str(array.dtype), ("topics",) * array.ndim, "")


def _check_all(expected: Mapping[str, Tensor], tensors: Tensors, sizes: Mapping[str, int]) -> None:
    """Raise unless there are these tensors and no others; those of other models are told from those of later ones."""
    for name in tensors:
        if name not in expected and re.sub(r"\.\d+$", "", name) in TENSORS:
            raise TensorError(f"has a tensor {shown(name)}, which such a model has not")
    check_tensors(expected, tensors, sizes)


def by_name(tensors: Iterable[Tensor]) -> dict[str, Tensor]:
    """Declared tensors by name."""
    return {one.name: one for one in tensors}


def sizes_of(n_topics: int, n_terms: int, dims: int) -> dict[str, int]:
    """Sizes of dimensions by name."""
    pairs = dims * (dims + 1) // 2
    sizes = {"topics": n_topics, "1 + topics": 1 + n_topics, "width": padded(n_topics), "terms": n_terms}
    return {**sizes, "dims": dims, "pairs": pairs, "one": 1}


def state_of(weights: WeightDraws, tensors: Tensors) -> type[Stats]:
    """The record of the weights that these tensors are of."""
    for one in weights.states:
        if set(layout(one)) <= set(tensors):
            return one
    raise TensorError(f"lacks tensor {next(iter(set(layout(weights.states[0])) - set(tensors)))!r}")


def arrays_of(state: type[Stats]) -> dict[str, Tensor]:
    """The tensors of a state of a chain with such weights."""
    return stats_tensors(TopicCounts, STATE_TENSORS) | stats_tensors(state, STATE_TENSORS)


def stats_tensors(record: type[Stats], declared: tuple[Tensor, ...]) -> dict[str, Tensor]:
    """The tensors of a record; of a model that the format does not know, as the record lays them out."""
    known = by_name(declared)
    made = {}
    for name, how in layout(record).items():
        made[name] = known.get(name) or Tensor(
            name, "float64", ("width" if how.lanes else "topics",) * len(how.axes), ""
        )
    return made


def read_numbers(state: type[Stats], numbers: dict[str, Any], where: str, one: str, more: str) -> None:
    """Put checked numbers of states with such weights, all of as many topics, in the place of those that are there."""
    declared = number_fields(state)
    numbers[one] = read(declared, numbers[one], f"{where}.{one}")
    numbers[more] = [read(declared, each, f"{where}.{more}.{i}") for i, each in enumerate(numbers[more])]
    for each in (numbers[one], *numbers[more]):
        if each["n_topics"] != numbers[one]["n_topics"] or each.get("truncation", MOST_TOPICS) < each["n_topics"]:
            raise MismatchError(f"has {where} with other numbers of topics than go together")


def number_fields(state: type[Stats]) -> Record:
    """The numbers of a state with such weights; of a model that the format does not know, any."""
    known = {one.name: one for one in NUMBERS}
    own = [one.name for one in fields(state) if one.name not in layout(state)]
    return tuple(known.get(name) or Field(name, "float", "") for name in ("n_topics", "prior", *own))


def _check_totals(table: Array, totals: Array, name: str) -> None:
    """Raise unless the topics' totals are the sums of their tokens."""
    sums = table.sum(axis=0)
    if not (np.abs(sums - totals) <= APART * (1 + totals)).all():
        raise TensorError(f"has tensor {name!r} that is not the sum over terms")


def _check_agreement(tensors: Tensors, n_chains: int) -> None:
    """Raise unless what several chains tell is all there, and of no more chains than there were."""
    there = {name for name in ("together", "log_lift", "between") if PREFIX + name in tensors}
    if len(there) not in (0, 3) or (not there and PREFIX + "within" in tensors):
        raise TensorError("has only some of the tensors that say what chains agree on")
    for name in ("found", "together"):
        if (array := tensors.get(PREFIX + name)) is not None and array.max() > n_chains:
            raise TensorError(f"has more than {n_chains} chains in tensor {PREFIX + name!r}")


def _stream_sizes(stream: Mapping[str, Any], tensors: Tensors) -> dict[str, int]:
    """Sizes of what is kept of a stream; raise if candidates are not terms that differ."""
    terms = stream["candidates"]
    if len(terms) > ROOM or sorted(set(terms)) != terms or "" in terms:
        raise MismatchError("has stream.candidates that are not terms in order")
    pooled = min(max(tensors["stream.offsets"].size - 1, 0), POOLED) if "stream.offsets" in tensors else 0
    entries = min(tensors["stream.terms"].size, POOLED_ENTRIES) if "stream.terms" in tensors else 0
    return {"candidates": len(terms), "pooled + 1": pooled + 1, "pooled entries": entries}


def _check_pool(tensors: Tensors, n_terms: int) -> None:
    """Raise unless the documents that a stream keeps have each term once, in order, as often as tokens are."""
    offsets, terms, tokens = (tensors[f"stream.{name}"] for name in ("offsets", "terms", "tokens"))
    if offsets[0] != 0 or offsets[-1] != len(terms) or (np.diff(offsets) < 0).any():
        raise TensorError("has tensor 'stream.offsets' that does not lead from 0 to the end without a step back")
    if len(terms) and (terms.min() < 0 or terms.max() >= n_terms):
        raise TensorError("has tensor 'stream.terms' with terms that there are none of")
    if not np.isin(np.flatnonzero(np.diff(terms) <= 0) + 1, offsets).all():
        raise TensorError("has tensor 'stream.terms' with a document whose terms do not ascend")
    if tokens.size and (tokens.min() < 1 or (tokens % 1).any() or tokens.max() > MOST_TOKENS):
        raise TensorError("has tensor 'stream.tokens' with numbers that are no counts")


def _check_trained(sketch: TrainingSketch | None) -> None:
    """Raise unless hashes of documents ascend."""
    if sketch is not None and not (sketch.hashes[:-1] < sketch.hashes[1:]).all():
        raise TensorError(f"has numbers in tensor {TRAINED!r} that do not ascend")


def _check_gaussian(tensors: Tensors, prior: float) -> None:
    """Raise unless the covariance of log weights is one, and those that moments lead to."""
    for name in ("covariance", "moments"):
        if name not in tensors:
            continue
        matrix = tensors[name]
        if not np.allclose(matrix, matrix.T, rtol=1e-6, atol=1e-9 * np.abs(matrix).max()):
            raise TensorError(f"has tensor {name!r} that is not symmetric")
        if name == "moments" and matrix[0, 0] >= 0:
            matrix = best_gaussian(matrix, prior)[1]
        if not positive_definite(matrix):
            raise TensorError(f"has tensor {name!r} that is no covariance")


def _check_precision(packed: Array, dims: int, variance: float) -> None:
    """Raise unless the sums that locations follow from are those of squares, but for rounding."""
    if dims:
        i, j = np.tril_indices(dims)
        matrices, along = np.zeros((len(packed), dims, dims)), np.arange(dims)
        matrices[:, i, j] = matrices[:, j, i] = packed
        matrices[:, along, along] += 1 / variance
        matrices[:, along, along] -= ROUNDING * matrices[:, along, along].sum(axis=1, keepdims=True)
        if not positive_definite(matrices):
            raise TensorError("has tensor 'precision' that is no sum of squares")


def _check_squares(tensors: Tensors) -> None:
    """Raise if a topic has a square below 0."""
    for name in ("products", "average.products"):
        if name in tensors and (np.diag(tensors[name]) < 0).any():
            raise TensorError(f"has tensor {name!r} with squares below 0")


def positive_definite(matrix: Array) -> bool:
    """Whether a symmetric matrix, or each of several, is positive definite."""
    try:
        return bool(np.isfinite(np.linalg.cholesky(matrix)).all())
    except np.linalg.LinAlgError:
        return False


def check_run(run: ChainRun, numbers: dict[str, Any], tensors: Tensors, n_terms: int) -> None:
    """Raise unless these are what ``run.stored`` gave of a chain of the same documents; numbers come to be floats."""
    chain = run.chain
    state = state_of(chain.weights, tensors)
    read_numbers(state, numbers, "chain.run", "state", "kept")
    if numbers["size"] > chain.docs.n_docs or (numbers["done"] and not numbers["n_states"]):
        raise MismatchError("says of the chain what cannot be")
    if not Followed.could_be(numbers["followed"], numbers["state"]["n_topics"]):
        raise MismatchError(f"has followed {shown(numbers['followed'])} in place of pairs of topics")
    closed = "ells" in tensors and tensors["ells"].shape[:1] == (0,)
    dims = 0 if closed else getattr(chain.weights, "n_dims", 0)
    sizes, arrays = sizes_of(numbers["state"]["n_topics"], n_terms, dims), arrays_of(state)
    expected = {f"{name}{end}": one for end in _ends(numbers["kept"]) for name, one in arrays.items()}
    if numbers["n_states"]:
        expected |= _average_tensors(arrays)
    _check_all(expected, tensors, sizes)
    if numbers["n_states"] and not tensors["average.table"].any():
        raise MismatchError("has states without a token in average.table")
    _check_squares(tensors)
    _check_means(state, numbers)
    _check_gaussian({name: tensors[name] for name in ("covariance",) if name in tensors}, 1.0)


def _check_pairs(history: Iterable[Mapping[str, Any]], n_topics: int) -> None:
    """Raise unless correlations along a fit are those of pairs of the model's topics."""
    for name in {name for entry in history for name in entry["correlations"]}:
        if not PAIR.fullmatch(name) or max(pair_of(name)) >= n_topics:
            raise MismatchError(f"has correlations of {shown(name)} in place of those of two topics, as in 3-17")


def _average_tensors(arrays: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a sum of states that have these."""
    known = by_name(AVERAGE_TENSORS)
    sums = {f"average.{name}": known.get(f"average.{name}") or one for name, one in arrays.items()}
    return sums | {name: one for name, one in known.items() if one.beside}


def _check_means(state: type[Stats], numbers: Mapping[str, Any]) -> None:
    floats = {one.name for one in number_fields(state) if one.type == "float"} if numbers["n_states"] else set()
    if set(numbers["means"]) != floats or not all(0 < value < np.inf for value in numbers["means"].values()):
        raise MismatchError("has chain.run.means that are not those of its states")


def check_documents(chain: Chain) -> None:
    """Raise unless the documents of a chain that was restored are such as go with its state.

    The counts of the topics are those of the documents in play, and others have no topic yet.
    """
    docs, state = chain.docs, chain.state
    for name, blank in chain.weights.documents(state, 0)._asdict().items():
        for shape in docs.on_all(shape_of, name):
            if shape != blank.shape[1:]:
                raise TensorError(f"has tensor {name!r} with rows of {shape} in place of {blank.shape[1:]}")
    if not all(docs.on_all(sound_topics, (state.n_topics, docs.share))):
        raise TensorError("has topics of tokens that there are none of")
    table, totals = counted(docs, state)
    if not (np.array_equal(table, state.counts.table) and np.array_equal(totals, state.counts.totals)):
        raise TensorError("has tensor 'table' that is not the counts of the tokens' topics")


def shape_of(shard: SampledShard, name: str) -> tuple[int, ...] | None:
    """Shape of what is known of a document under this name."""
    array = getattr(shard.places, name, None)
    return None if array is None else array.shape[1:]


def sound_topics(shard: SampledShard, given: tuple[int, Share]) -> bool:
    """Whether all topics of a shard's tokens are among so many, and documents that are not in play have none."""
    n_topics, share = given
    start = shard.tokens.starts[share.of(shard.tokens.n_docs)]
    known = (shard.topics < n_topics) | (shard.topics == NO_TOPIC)
    return bool(known.all() and (shard.topics[start:] == NO_TOPIC).all())
