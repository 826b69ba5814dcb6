"""What the model has found: topics, themes, the map, pairs, trends, labels and words."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from diln import __version__
from diln.analysis import (
    Atlas,
    Correlations,
    GroupCell,
    Groups,
    LabelTrends,
    MapPoint,
    Match,
    Matching,
    Pair,
    PairMatrix,
    Series,
    Theme,
    Themes,
    TopicHit,
    TopicInfo,
    TopicMap,
    Trends,
    Word,
    WordTopic,
    match_topics,
)
from diln.analysis.records import plain
from diln.analysis.trends import MIN_DOCUMENTS
from diln.show.explorer.desk import Desk, Refused
from diln.show.explorer.replies import Json
from diln.show.explorer.routes.parts import (
    ERRORS,
    LONGEST,
    By,
    Ids,
    Number,
    Period,
    ThemeNumber,
    ThemesAsked,
    TopicId,
    found,
    gives,
    ids_of,
    known,
    n_themes,
    said,
)

Least = Annotated[int, Query(ge=1, le=1_000_000, description="Periods with fewer documents have no share")]

LABELS = 60  # labels that are shown, of those with most documents
LISTED = 10  # friends, rivals, typical documents of a topic

Sought = Annotated[str, Query(max_length=LONGEST, description="One word or several")]


def router(desk: Desk) -> APIRouter:
    """The addresses."""
    routes = APIRouter(prefix="/api", tags=["model"], responses=ERRORS)

    @routes.get("/model", summary="The model and its corpus, in a few sentences and numbers")
    def model() -> Json:
        return Json(described(desk))

    @routes.get(
        "/topics", summary="All topics that are shown, the largest first", responses=gives(TopicInfo, several=True)
    )
    def topics() -> Json:
        return said(desk.atlas.topics())

    @routes.get("/names", summary="The names of all topics, small and hidden ones too, by their numbers")
    def names() -> Json:
        atlas = desk.atlas
        hidden = {topic: atlas.label(topic) for topic in sorted(atlas.edits.hidden)}
        return Json({str(topic): name for topic, name in (atlas.names() | hidden).items()})

    @routes.get(
        "/find",
        summary="The topics whose words these are, listed or not",
        responses=gives(TopicHit, several=True),
    )
    def find(
        q: Annotated[str, Query(max_length=LONGEST, description="One word or several")] = "", n: Number = 10
    ) -> Json:
        return said(desk.atlas.find(q, n))

    @routes.get(
        "/topics/{topic}",
        summary="A topic: its words, friends and rivals, documents, trend and labels",
        responses=gives(
            TopicInfo, also=", and all_words, friends, rivals, typical, trend and groups; null for what is not known"
        ),
    )
    def topic(topic: TopicId) -> Json:
        return Json(card(desk, topic))

    @routes.get("/topics/{topic}/words", summary="A topic's words by relevance", responses=gives(Word, several=True))
    def words(topic: TopicId, relevance: Annotated[float, Query(ge=0, le=1)] = 0.6, n: Number = 30) -> Json:
        return said(found(lambda: desk.atlas.words(topic, relevance, n)))

    @routes.get(
        "/themes",
        summary="Groups of topics that lie together",
        responses=gives(Themes, Theme, also="; the documents' arrays are left out"),
    )
    def themes(n: ThemesAsked = "auto") -> Json:
        return said(desk.themes(n_themes(n)))

    @routes.get("/map", summary="Where topics and themes lie", responses=gives(TopicMap, MapPoint))
    def topic_map(n: ThemesAsked = "auto") -> Json:
        desk.themes(n_themes(n))
        return said(desk.atlas.map(n_themes(n)))

    @routes.get("/pairs", summary="Topics that attract and avoid each other", responses=gives(Correlations, Pair))
    def pairs(n: Number = 50, unsure: bool = False) -> Json:
        return said(desk.atlas.pairs(n, unsure))

    @routes.get(
        "/matrix", summary="How topics go together, all with all, ordered by theme", responses=gives(PairMatrix)
    )
    def matrix(n: Annotated[int, Query(ge=2, le=800)] = 100, n_themes_: ThemeNumber = "auto") -> Json:
        return said(desk.atlas.matrix(n, n_themes(n_themes_)))

    @routes.get("/trends", summary="Topics or themes over time", responses=gives(Trends, Series))
    def trends(
        by: By = "topic",
        ids: Ids = "",
        granularity: Period = "auto",
        label: Annotated[str | None, Query(max_length=500)] = None,
        n_themes_: ThemeNumber = "auto",
        standardise: Annotated[bool, Query(description="Whether to hold the mix of labels constant")] = False,
        min_documents: Least = MIN_DOCUMENTS,
    ) -> Json:
        if granularity == "auto" and label is None:
            granularity = desk.granularity()
        asked: dict[str, Any] = {"ids": ids_of(ids), "label": label, "n_themes": n_themes(n_themes_)}
        asked |= {"standardise": standardise, "min_documents": min_documents}
        return said(desk.atlas.trends(by, granularity, **asked))  # type: ignore[arg-type]

    @routes.get(
        "/trends/labels",
        summary="Topics or themes over time in the documents of each label",
        responses=gives(LabelTrends, Trends, Series, also=", of the labels with most documents"),
    )
    def label_trends(
        by: By = "topic",
        ids: Ids = "",
        granularity: Period = "auto",
        n_themes_: ThemeNumber = "auto",
        min_documents: Least = MIN_DOCUMENTS,
        n: Annotated[int, Query(ge=1, le=60, description="Labels with most documents")] = 12,
    ) -> Json:
        if granularity == "auto":
            granularity = desk.granularity()
        asked: dict[str, Any] = {"ids": ids_of(ids), "n_themes": n_themes(n_themes_)}
        asked |= {"min_documents": min_documents, "n_labels": n}
        return said(desk.atlas.trends_by_label(by, granularity, **asked))  # type: ignore[arg-type]

    @routes.get(
        "/groups",
        summary="Topics or themes by the documents' labels",
        responses=gives(Groups, GroupCell, also=", of the labels with most documents"),
    )
    def groups(
        by: By = "topic",
        ids: Ids = "",
        n_themes_: ThemeNumber = "auto",
        n: Annotated[int, Query(ge=1, le=1000, description="Labels with most documents")] = LABELS,
    ) -> Json:
        found = desk.atlas.groups(by, ids=ids_of(ids), n_themes=n_themes(n_themes_))  # type: ignore[arg-type]
        return Json(largest_labels(plain(found), n))

    @routes.get("/labels", summary="The documents' labels, those with most documents first")
    def labels(n: Annotated[int, Query(ge=1, le=1000, description="Labels with most documents")] = LABELS) -> Json:
        return Json(counted_labels(desk, n))

    @routes.get("/words", summary="Words that begin with some letters")
    def complete(prefix: Annotated[str, Query(max_length=100)] = "", n: Number = 20) -> Json:
        return Json({"words": completions(desk, prefix, n)})

    @routes.get("/words/{term}", summary="The topics of a word", responses=gives(WordTopic, several=True))
    def word(term: Annotated[str, Path(max_length=500)], n: Number = 10) -> Json:
        return said(found(lambda: desk.atlas.word(term, n)))

    @routes.get(
        "/compare",
        summary="Which topics a second model shares",
        responses=gives(Matching, Match, also=", and topics: those of the second model"),
    )
    def compare() -> Json:
        if desk.other is None:
            raise Refused(404, "there is no second model; start the explorer with --compare OTHER")
        name = None if desk.other.directory is None else desk.other.directory.resolve().name
        matching = match_topics(desk.atlas.fitted, desk.other.fitted).to_json()
        return said({**matching, "name": name, "topics": plain(desk.other.topics())})

    return routes


def described(desk: Desk) -> dict[str, Any]:
    """The model in numbers, what can be asked of it, and what the server is doing."""
    search = None if desk.search is None else desk.search.state()
    state: dict[str, Any] = {"read_only": desk.read_only, "compare": desk.other is not None, "watching": not desk.ready}
    state |= {"version": __version__, "search": search, "ready": desk.ready}
    if not desk.ready:
        return state
    return {**desk.told.get(("model", desk.changes), lambda: model_numbers(desk.atlas)), **state}


def model_numbers(atlas: Atlas) -> dict[str, Any]:
    """The model in sentences and numbers."""
    fitted, index = atlas.fitted, atlas.index
    known = atlas.corpus.documents.fields if atlas.corpus is not None else ()
    has = {
        "text": "text" in known,
        "dates": index is not None and index.timestamps is not None,
        "labels": index is not None and bool(index.label_names),
        "locations": fitted.locations is not None,
        "pairs": fitted.log_lift is not None,
        "sure": fitted.judged() is not None,
        "index": index is not None,
        "history": bool(fitted.history),
    }
    return {
        **plain(atlas.summary()),
        "kind": fitted.kind,
        "name": atlas.directory.resolve().name if atlas.directory is not None else None,
        "documents": len(atlas.corpus) if atlas.corpus is not None else (index.n_docs if index is not None else None),
        "terms": len(fitted.vocabulary),
        "tokens": float(fitted.posterior.topic_tokens.sum()),
        "topics_in_use": fitted.n_topics,
        "topics_shown": len(atlas.folding.shown),
        "n_chains": fitted.n_chains,
        "has": has,
        "settings": fitted.parameters.to_json(),
    }


def card(desk: Desk, topic: int) -> dict[str, Any]:
    """All that is known of a topic; None for what its corpus does not have."""
    atlas = desk.atlas
    shown = found(lambda: atlas.topic(topic))
    kept = kept_card(desk, shown.id)
    asked = {
        "friends": lambda: atlas.friends(topic, LISTED),
        "rivals": lambda: atlas.rivals(topic, LISTED),
        "typical": lambda: atlas.typical(topic=topic, n=LISTED // 2),
    }
    trend = kept["trend"] and {**kept["trend"], "series": [{**kept["trend"]["series"][0], "label": shown.label}]}
    return {
        **plain(shown),
        "all_words": plain(atlas.words(topic)),
        **{name: known(ask) for name, ask in asked.items()},
        **kept,
        "trend": trend,
    }


def kept_card(desk: Desk, topic: int) -> dict[str, Any]:
    """What takes a while to find of a topic, found once: only its own documents matter, whatever else is edited."""
    atlas = desk.atlas
    asked = {
        "trend": lambda: atlas.trends("topic", desk.granularity(), ids=[topic]),
        "groups": lambda: largest_labels(plain(atlas.groups("topic", ids=[topic])), LABELS),
    }
    return desk.cards.get(atlas.folding.parts(topic), lambda: {name: known(ask) for name, ask in asked.items()})


def largest_labels(groups: dict[str, Any], n: int) -> dict[str, Any]:
    """Groups with the labels of most documents, and how many labels there are."""
    labels = sorted(groups["labels"], key=lambda label: -label["n_docs"])[:n]
    names = {label["name"] for label in labels}
    cells = [cell for cell in groups["cells"] if cell["label_name"] in names]
    return {**groups, "labels": labels, "cells": cells, "n_labels": len(groups["labels"])}


def counted_labels(desk: Desk, n: int) -> dict[str, Any]:
    """Labels with their numbers of documents, and how many labels there are."""
    found = desk.chooser.selection.labels()
    sizes = found.within.sum(axis=1).tolist()[:n]
    named = [{"name": name, "n_docs": int(size)} for name, size in zip(found.names, sizes, strict=False)]
    return {"labels": named, "n_labels": len(found.names)}


def completions(desk: Desk, prefix: str, n: int) -> list[str]:
    """Terms that begin so, the most frequent first."""
    import numpy as np

    fitted = desk.atlas.fitted
    wanted = prefix.strip().casefold()
    if not wanted:
        return []
    rows = [row for row, term in enumerate(fitted.vocabulary) if term.casefold().startswith(wanted)]
    weight = np.asarray(fitted.topic_weights @ fitted.topic_word[:, rows])
    return [fitted.vocabulary[rows[place]] for place in np.argsort(-weight, kind="stable")[:n].tolist()]
