"""A corpus and its model in a few plain sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from diln.analysis.html import percent
from diln.analysis.records import Record

if TYPE_CHECKING:
    from diln.analysis.atlas import Atlas
    from diln.analysis.correlations import Pair

MONTHS = "January February March April May June July August September October November December".split()
THEMES = 3  # that the sentences name
DAYS, MONTHS_LONG = 62, 3 * 366  # up to which dates are told as days, and as months


@dataclass(frozen=True, slots=True)
class Summary(Record):
    """A corpus and its model in a few plain sentences.

    Attributes
    ----------
    sentences : tuple of str
        The sentences.
    numbers : dict
        What they are made of: ``documents``, ``tokens``, ``labels``, ``first_date``, ``last_date``, ``undated``,
        ``empty`` (documents without a known word), ``topics`` (shown), ``topics_in_use``, ``hidden``, ``merged``,
        ``named``, ``share`` (of all words, in the topics that are shown), ``themes``, ``pairs``, ``sure_pairs``,
        ``n_chains`` and ``found_again`` (share of the topics that another chain finds).
    """

    sentences: tuple[str, ...]
    numbers: dict[str, Any]


def summary(atlas: "Atlas") -> Summary:
    """The sentences and numbers of an atlas."""
    numbers = {**_of_documents(atlas), **_of_topics(atlas), **_of_pairs(atlas)}
    return Summary((*_documents(numbers), *_topics(atlas, numbers), *_pairs(atlas, numbers)), numbers)


def _of_documents(atlas: "Atlas") -> dict[str, Any]:
    fitted, index = atlas.fitted, atlas.index
    known: dict[str, Any] = {
        "documents": round(fitted.population),
        "tokens": round(fitted.posterior.topic_tokens.sum()),
    }
    known |= dict.fromkeys(("labels", "first_date", "last_date", "undated", "empty"))
    if index is None:
        return known
    times, filled = index.timestamps, index.tokens > 0
    known |= {"documents": index.n_docs, "tokens": int(index.tokens.sum(dtype=np.int64))}
    known |= {"labels": len(atlas.labels()), "empty": int((~filled).sum())}
    if times is not None:
        dated = times[~np.isnat(times)]
        known |= {"first_date": str(dated.min())[:10], "last_date": str(dated.max())[:10]}
        known["undated"] = int(np.isnat(times).sum())
    return known


def _of_topics(atlas: "Atlas") -> dict[str, Any]:
    folding, edits = atlas.folding, atlas.edits
    return {
        "topics": len(folding.shown), "topics_in_use": int(folding.used.sum()),
        "hidden": int(folding.used.sum()) - len(folding.shown),
        "merged": sum(len(group) - 1 for group in edits.merges), "named": len(edits.labels),
        "share": float(folding.shares[folding.shown].sum()), "themes": atlas.themes().n,
    }  # fmt: skip


def _of_pairs(atlas: "Atlas") -> dict[str, Any]:
    agreement, used = atlas.fitted.agreement, atlas.folding.used
    known: dict[str, Any] = {"pairs": None, "sure_pairs": None, "n_chains": atlas.fitted.n_chains}
    known["found_again"] = None if agreement is None else agreement.share(used)
    if atlas.fitted.posterior.covariance is not None:
        found = atlas.pairs(1)
        known |= {"pairs": found.n_pairs, "sure_pairs": found.n_sure}
    return known


def _documents(numbers: dict[str, Any]) -> Iterator[str]:
    labels, first, last = numbers["labels"], numbers["first_date"], numbers["last_date"]
    labelled = f" under {labels:,} labels" if labels and labels > 1 else ""
    dated = "" if first is None else f", {_span(first, last)}"
    yield (
        f"{_counted(numbers['documents'], 'document')}{labelled}{dated}, with {numbers['tokens']:,} words that the "
        "model knows."
    )
    odd = [(numbers["undated"], "date"), (numbers["empty"], "word that the model knows")]
    told = [f"{number:,} {'has' if number == 1 else 'have'} no {what}" for number, what in odd if number]
    if told:
        yield f"Of these, {' and '.join(told)}."


def _span(first: str, last: str) -> str:
    """Two dates as people say them: days of a short span, months, or years."""
    days = int((np.datetime64(last) - np.datetime64(first)).astype(np.int64))
    parts = [_date(one, 3 if days <= DAYS else 2 if days <= MONTHS_LONG else 1) for one in (first, last)]
    return parts[0] if parts[0] == parts[1] else f"from {parts[0]} to {parts[1]}"


def _date(text: str, parts: int) -> str:
    year, month, day = text.split("-")[-3:]
    return " ".join([str(int(day)), MONTHS[int(month) - 1], year][3 - parts :])


def _topics(atlas: "Atlas", numbers: dict[str, Any]) -> Iterator[str]:
    found = atlas.themes()
    held = f"{_counted(numbers['topics'], 'topic')}, which hold{'s' * (numbers['topics'] == 1)} "
    held += f"{percent(numbers['share'])} of all words"
    if numbers["share"] < 0.95:
        held += "; the others are in topics with less than one word in 500 each"
        held += " or in hidden ones" if numbers["hidden"] else ""
    yield f"The model shows {held}."
    if found.n > 1:
        listed = [f"“{theme.label}” ({percent(theme.share)})" for theme in found.themes[:THEMES]]
        largest = "They are" if found.n <= len(listed) else "The largest, with their shares of all words, are"
        yield f"The topics fall into {found.n} themes. {largest} {_listed(listed)}."
    changes = [(numbers["named"], "named"), (numbers["merged"], "merged into others"), (numbers["hidden"], "hidden")]
    told = [f"{number:,} {what}" for number, what in changes if number]
    if told:
        yield f"By hand, topics were changed: {_listed(told)}."


def _pairs(atlas: "Atlas", numbers: dict[str, Any]) -> Iterator[str]:
    if numbers["sure_pairs"] is not None:
        yield (
            f"{numbers['sure_pairs']:,} of {_counted(numbers['pairs'], 'pair')} of topics are sure to go together or "
            f"to avoid each other.{_examples(atlas)}"
        )
    if numbers["found_again"] is not None:
        yield (
            f"The model was fitted {_times(numbers['n_chains'])}; another run finds {numbers['found_again']:.0%} of "
            "the topics again."
        )
    else:
        pairs = " and of the pairs" if numbers["pairs"] else ""
        yield f"The model was fitted once, so how much of the topics{pairs} another run would find is unknown."


def _examples(atlas: "Atlas") -> str:
    """The strongest pair of each kind in words."""
    found = atlas.pairs(1)
    told = [f"{_both(atlas, one)} are together {one.lift:.1f} times as often as by chance" for one in found.positive]
    are, chance = ("", "") if told else (" are together", " as by chance")
    told += [f"{_both(atlas, one)}{are} only {one.lift:.2g} times as often{chance}" for one in found.negative]
    return f" For example, {', but '.join(told)}." if told else ""


def _both(atlas: "Atlas", pair: "Pair") -> str:
    return f"“{atlas.label(pair.first)}” and “{atlas.label(pair.second)}”"


def _times(number: int) -> str:
    return "twice" if number == 2 else f"{number} times"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{'; '.join(parts[:-1])} and {parts[-1]}"
