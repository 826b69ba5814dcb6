"""All that a report tells, asked of the Atlas: one dictionary of plain values."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import numpy as np

from diln.analysis import Atlas, Correlations, Themes
from diln.analysis.records import plain
from diln.analysis.trends import Trends
from diln.analysis.trends_periods import GRANULARITIES
from diln.show.report.method import about, cited, how_sure, method, settings, versions

WORDS = 12  # of a topic's card, by relevance and by probability
FRIENDS = 5  # of a topic's card, and as many rivals
DRAWN_PAIRS = 400  # of each kind, in the pictures
IN_MATRIX = 200  # topics, the largest
THEME_DOCUMENTS = 3  # of a theme's card
ON_MAP = 10_000  # documents, evenly spread over the corpus
AT_ONCE = 1_000
FEWEST_PERIODS = 4  # that a trend is drawn with
EVERY = 100_000  # more than there are of anything that is counted here

Content = dict[str, Any]
Tell = Callable[[str, int, int], None]  # what is being done, how much of it is done, how much there is


class Wanted(NamedTuple):
    """What a report is to hold."""

    title: str
    themes: int | Literal["auto"] = "auto"
    documents: int = 3  # of each topic
    texts: bool = True  # whether titles, ids and sentences of documents are told


def gather(atlas: Atlas, wanted: Wanted, tell: Tell = lambda what, done, total: None) -> Content:
    """What a report tells; what the model or the corpus does not have is None."""
    tell("finding themes", 0, 0)
    topics = atlas.topics(WORDS)
    themes = atlas.themes(wanted.themes) if topics else None
    pairs = _if_any(atlas.pairs, EVERY)
    content: Content = {
        "title": wanted.title,
        "texts": wanted.texts,
        "documents_wanted": wanted.documents,
        "about": about(atlas, len(topics)),
        "summary": atlas.summary(),
        "themes": themes and _without_tree(themes),
        "map": _if_any(atlas.map, wanted.themes),
        "pairs": pairs and _strongest(pairs),
        "matrix": _matrix(atlas, wanted.themes) if topics else None,
        "documents": _if_any(_documents_on_map, atlas, wanted, themes),
    }
    for by, n in (("theme", 0 if themes is None else themes.n), ("topic", len(topics))):
        tell(f"trends and labels of {by}s", 0, 0)
        for what, ask in (("trends", _trends), ("groups", Atlas.groups)):  # one of something is all of it
            content[f"{by}_{what}"] = _if_any(ask, atlas, by, n_themes=wanted.themes) if n > 1 else None
    content["held_trends"] = _held(atlas, content["theme_trends"], wanted)
    content["theme_documents"] = _theme_documents(atlas, wanted, themes)
    content["topics"] = list(_topics(atlas, wanted, topics, themes, tell))
    content["method"], content["sure"] = method(atlas), how_sure(atlas, pairs)
    content |= {"settings": settings(atlas), "cite": cited(atlas), "versions": versions(atlas)}
    return plain_values(content)  # type: ignore[no-any-return]


def plain_values(value: Any) -> Any:
    """Records, arrays and what else there is as JSON has them."""
    if isinstance(value, dict):
        return {str(name): plain_values(part) for name, part in value.items()}
    if isinstance(value, list):
        return [plain_values(part) for part in value]
    return plain(value.to_json() if hasattr(value, "to_json") else value)


def _if_any(ask: Callable[..., Any], *what: Any, **how: Any) -> Any:
    """What the Atlas answers; None where the model or the corpus does not have it."""
    with suppress(ValueError):
        return ask(*what, **how)
    return None


def _without_tree(themes: Themes) -> Content:
    found = themes.to_json()
    return {name: part for name, part in found.items() if name != "tree"}


def _strongest(pairs: Correlations) -> Content:
    """The pairs that are drawn, and how many there are of each kind."""
    kinds = {"positive": pairs.positive, "negative": pairs.negative}
    drawn = {kind: list(every[:DRAWN_PAIRS]) for kind, every in kinds.items()}
    return {**drawn, **{f"n_{kind}": len(every) for kind, every in kinds.items()},
            "n_pairs": pairs.n_pairs, "n_sure": pairs.n_sure}  # fmt: skip


def _matrix(atlas: Atlas, n_themes: int | Literal["auto"]) -> Content | None:
    """The matrix of the largest topics, those of a theme next to each other."""
    found = _if_any(atlas.matrix, IN_MATRIX, n_themes)
    if found is None:
        return None
    sure = None if found.sure is None else np.asarray(found.sure).astype(int)
    return {"order": found.order, "log_lift": np.asarray(found.log_lift).round(3), "sure": sure, "themes": found.themes}


def _documents_on_map(atlas: Atlas, wanted: Wanted, themes: Themes | None) -> Content | None:
    """Places of documents on the map with their themes and topics: four 16-bit numbers each, as the map reads them."""
    index = atlas.index
    if index is None or index.locations is None or themes is None or themes.document_theme is None:
        return None
    known = np.flatnonzero(np.asarray(index.tokens) > 0)
    rows = known[np.unique(np.linspace(0, len(known) - 1, min(ON_MAP, len(known))).astype(np.int64))]
    places = atlas.map(wanted.themes).place(index.locations[rows])
    parts = [rows[first : first + AT_ONCE] for first in range(0, len(rows), AT_ONCE)]
    topics = [atlas.folding.columns(index.proportions(some)).argmax(axis=1) for some in parts]
    packed = np.empty((len(rows), 4), "<u2")
    packed[:, :2] = np.rint((places.astype(np.float64) + 1) / 2 * 65535)
    packed[:, 2] = themes.document_theme[rows]  # -1 for none is the largest number of 16 bits, which says so
    packed[:, 3] = np.concatenate([np.zeros(0, np.int64), *topics])
    return {"packed": b64encode(packed.tobytes()).decode(), "n": len(rows), "total": len(known)}


def _trends(atlas: Atlas, by: Literal["topic", "theme"], n_themes: int | Literal["auto"]) -> Trends:
    """Shares over time, by the shortest periods that make a line: dates may be years or months only."""
    found = atlas.trends(by, n_themes=n_themes)
    longer = GRANULARITIES[: GRANULARITIES.index(found.granularity)]
    for granularity in reversed(longer):
        if not lonely(found.n_docs):
            break
        wider = atlas.trends(by, granularity, n_themes=n_themes)
        if len(wider.periods) < FEWEST_PERIODS:
            break
        found = wider
    return found


def _held(atlas: Atlas, plain_trends: Trends | None, wanted: Wanted) -> Trends | None:
    """Themes over time with labels held constant, where their mix changes."""
    if plain_trends is None or plain_trends.mix is None:
        return None
    settings: dict[str, Any] = {"n_themes": wanted.themes, "standardise": True}
    return _if_any(atlas.trends, "theme", plain_trends.granularity, **settings)  # type: ignore[no-any-return]


def lonely(n_docs: Sequence[int]) -> bool:
    """Whether most periods with documents stand between periods without."""
    around = [0, *n_docs, 0]
    alone = [not (around[at] or around[at + 2]) for at, n in enumerate(n_docs) if n]
    return 2 * sum(alone) > len(alone)


def _theme_documents(atlas: Atlas, wanted: Wanted, themes: Themes | None) -> list[Any]:
    """Typical documents of each theme."""
    n = min(wanted.documents, THEME_DOCUMENTS)
    if themes is None or not n:
        return []
    ask = [{"theme": one.id, "n": n, "n_themes": wanted.themes} for one in themes.themes]
    return [_discreet(_if_any(atlas.typical, **one), wanted) for one in ask]


def _topics(atlas: Atlas, wanted: Wanted, topics: Any, themes: Themes | None, tell: Tell) -> Iterator[Content]:
    """What the card of each topic tells."""
    for done, topic in enumerate(topics):
        tell("topics", done, len(topics))
        one = topic.id
        friends, rivals = _if_any(atlas.friends, one, EVERY) or (), _if_any(atlas.rivals, one, EVERY) or ()
        typical = _if_any(atlas.typical, topic=one, n=wanted.documents) if wanted.documents else None
        yield {
            **topic.to_json(),
            "theme": None if themes is None else themes.topic_theme.get(one),
            "relevant": atlas.words(one, n=WORDS),
            "friends": friends[:FRIENDS], "n_friends": len(friends),
            "rivals": rivals[:FRIENDS], "n_rivals": len(rivals),
            "typical": _discreet(typical, wanted),
        }  # fmt: skip


def _discreet(typical: Any, wanted: Wanted) -> Any:
    """Typical documents, without what they say where that is not to be told."""
    found = plain(typical)
    for one in found or ():
        one["document"].pop("snippet", None)
        if not wanted.texts:
            one["sentences"] = []
            one["document"] |= {"id": "", "title": ""}
    return found
