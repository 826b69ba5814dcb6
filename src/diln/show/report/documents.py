"""Documents that a card lists."""

from typing import Any

from diln.analysis.html import percent
from diln.show.report.markup import Markup, el, together
from diln.show.report.words import counted


def typical_list(typical: list[dict[str, Any]], topic: int | None = None) -> Markup:
    """Documents with their telling sentences; those of a topic can be linked to."""
    return el("ol", *(_document(one, topic, at) for at, one in enumerate(typical)), class_="documents")


def _document(one: dict[str, Any], topic: int | None, at: int) -> Markup:
    document = one["document"]
    facts = [document["date"], document["label"], counted(document["n_tokens"], "word")]
    if document.get("share") is not None:
        facts.insert(0, f"{percent(document['share'])} of it")
    known = [el("bdi", fact) for fact in facts if fact]
    return el(
        "li",
        el("cite", named(document), dir="auto"),
        " ",
        el("small", together(*known, gap=" · ")),
        *(el("q", sentence, dir="auto") for sentence in one["sentences"]),
        id=None if topic is None else f"topic-{topic}-document-{at + 1}",
    )


def named(document: dict[str, Any]) -> str:
    """A document's title; without one its id, without that its row in the corpus, from 0 on as in the API."""
    return str(document["title"] or document["id"] or f"document in row {document['row']}")
