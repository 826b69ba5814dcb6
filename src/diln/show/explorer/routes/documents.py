"""Documents: lists with search and filters, one document as a text, points on the map, new texts, a table to keep."""

import csv
import io
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from diln.analysis import DocumentInfo, Listing, Reading, Token
from diln.analysis.records import plain
from diln.files.formulas import is_formula
from diln.show.explorer.choice import Choice
from diln.show.explorer.desk import Desk, Refused, Turns
from diln.show.explorer.points import MOST
from diln.show.explorer.replies import Json
from diln.show.explorer.routes.parts import (
    ERRORS,
    LONGEST,
    Error,
    Number,
    Row,
    ThemeNumber,
    found,
    gives,
    known,
    n_themes,
)
from diln.show.explorer.search.snippets import pattern_of, snippet

SIMILAR = 10  # documents that are shown as similar
LISTED = 5  # topics of a document in a list
AT_ONCE = 500  # documents that are written at a time
COLUMNS = ("row", "id", "title", "date", "label", "tokens", "theme", "share", "topics")

Words = Annotated[str, Query(max_length=LONGEST, description='Words, "phrases", begin* and -without to search for')]
Id = Annotated[int | None, Query(ge=0, le=100_000)]
Text = Annotated[str | None, Query(max_length=LONGEST)]
Place = Annotated[float | None, Query(ge=-1e6, le=1e6, allow_inf_nan=False)]


class NewText(BaseModel):
    """A text to be read."""

    text: str = Field(description="The text")


async def choice(  # not in a thread: it is nothing to wait for
    topic: Id = None,
    other: Annotated[int | None, Query(ge=0, le=100_000, description="Together with this topic")] = None,
    theme: Id = None,
    n_themes_: ThemeNumber = "auto",
    label: Text = None,
    since: Annotated[str | None, Query(max_length=40, description="From this year, month or day on")] = None,
    until: Annotated[str | None, Query(max_length=40, description="To this year, month or day")] = None,
) -> Choice:
    """What the parameters of a request select."""
    return Choice(topic, other, theme, n_themes(n_themes_), label, since or None, until or None)


Chosen = Annotated[Choice, Depends(choice)]


def router(desk: Desk, turns: Turns) -> APIRouter:
    """The addresses."""
    routes = APIRouter(prefix="/api", tags=["documents"], responses=ERRORS)

    @routes.get(
        "/documents",
        summary="Documents with some words, of a topic, a theme, a label, a span of time",
        responses=gives(Listing, DocumentInfo, also="; hits are between the characters 2 and 3"),
    )
    def documents(
        chosen: Chosen, q: Words = "", offset: Annotated[int, Query(ge=0, le=10**9)] = 0, n: Number = 20
    ) -> Json:
        return Json(listing(desk, chosen, q, offset, n))

    @routes.get(
        "/documents/{row}",
        summary="A document: its topics, its text with each word's topic, similar ones",
        responses=gives(DocumentInfo, also=", and reading: a Reading, and similar: a list of Neighbour"),
    )
    def document(row: Row) -> Json:
        return Json(opened(desk, row))

    @routes.get("/shares", summary="How much of the selected documents is of each topic")
    def shares(chosen: Chosen) -> Json:
        return Json(desk.chooser.shares(chosen))

    @routes.get(
        "/map/documents",
        summary="Documents on the map: as numbers of 16 bits (x, y, theme, topic), or in a box as JSON",
        response_class=Response,
        responses={200: {"content": {"application/octet-stream": {}, "application/json": {}}}},
    )
    def points(
        chosen: Chosen,
        q: Words = "",
        n: Annotated[int | None, Query(ge=1, le=MOST)] = None,
        x0: Place = None,
        y0: Place = None,
        x1: Place = None,
        y1: Place = None,
    ) -> Response:
        rows = matching(desk, chosen, q)
        if x0 is None or y0 is None or x1 is None or y1 is None:
            data, total = desk.points.packed(chosen, n or MOST, rows)
            return Response(data, media_type="application/octet-stream", headers={"X-Total": str(total)})
        return Json(desk.points.inside(chosen, (x0, y0, x1, y1), min(n or 100, 500), rows))

    @routes.post(
        "/read",
        summary="What a new text is about: topics, each word's topic, nearest documents",
        responses={
            413: {"model": Error},
            415: {"model": Error},
            503: {"model": Error},
            **gives(Reading, Token, also=", and neighbours: a list of Neighbour"),
        },
    )
    async def read(new: NewText) -> Json:
        return Json(await turns.run(lambda: reading(desk, new.text)))

    @routes.get(
        "/export/documents.csv",
        summary="The selected documents as a table",
        response_class=StreamingResponse,
        responses={200: {"content": {"text/csv": {}}}},
    )
    def export(chosen: Chosen, q: Words = "") -> StreamingResponse:
        desk.themes(chosen.n_themes)  # raises before the first line is sent
        rows, shares, _ = ordered(desk, chosen, q)
        headers = {"Content-Disposition": 'attachment; filename="documents.csv"'}
        return StreamingResponse(table(desk, chosen, rows, shares), media_type="text/csv", headers=headers)

    return routes


def matching(desk: Desk, chosen: Choice, q: str) -> np.ndarray[Any, Any] | None:
    """Rows of the documents with what is searched for; None if nothing is."""
    return ordered(desk, chosen, q)[0] if q.strip() else None


def ordered(desk: Desk, chosen: Choice, q: str) -> tuple[Any, Any, Any]:
    """Rows of the selected documents in order, their shares of what is asked for, and the query, if there is one."""
    changes, chooser = (
        desk.arrangements,
        desk.chooser,
    )  # in this order: an edit meanwhile must not keep what was before it
    if chosen.theme is not None:
        desk.themes(chosen.n_themes)
    of = chooser.chosen(chosen)
    if not q.strip():
        return of.rows, of.shares, None
    search = desk.search
    if search is None:
        raise Refused(400, "there is nothing to search in: the documents are not known; give the corpus with --corpus")
    if not search.ready:
        state = search.state()
        if state["state"] == "off":
            raise Refused(400, state["note"])
        raise Refused(503, f"search is being prepared, {state['progress']:.0%} done", Retry_After="2")
    hits = search.find(q, None if chosen.everything else of.mask(chooser.n_docs), (chosen, changes))
    if of.shares is None:
        return hits.rows, None, hits.query
    known = np.zeros(chooser.n_docs, np.float32)
    known[of.rows] = of.shares
    return hits.rows, known[hits.rows], hits.query


def listing(desk: Desk, chosen: Choice, q: str, offset: int, n: int) -> dict[str, Any]:
    """A page of a list of documents."""
    rows, shares, query = ordered(desk, chosen, q)
    some = slice(offset, offset + n)
    listed = _infos(desk, chosen, rows[some], None if shares is None else shares[some])
    pattern = None if query is None else pattern_of(query)
    documents = [plain(one) for one in listed]
    if pattern is not None and desk.atlas.corpus is not None:
        texts = desk.atlas.corpus.documents
        for one in documents:
            one["snippet"] = snippet(texts[one["row"]].text, pattern) or one["snippet"]
    return {"total": len(rows), "documents": documents}


def _infos(desk: Desk, chosen: Choice, rows: Any, shares: Any) -> Any:
    themes = desk.themes(chosen.n_themes).document_theme
    return desk.chooser.view.infos(rows, LISTED, shares, themes)


def opened(desk: Desk, row: int) -> dict[str, Any]:
    """A document with its text and its neighbours; None for what its corpus does not have."""
    atlas = desk.atlas
    info = found(lambda: atlas.document(row, 10))
    return {
        **plain(info),
        "reading": known(lambda: atlas.read(row, 10)),
        "similar": known(lambda: atlas.similar(row, n=SIMILAR)) or [],
    }


def reading(desk: Desk, text: str) -> dict[str, Any]:
    """A new text as the model reads it, and documents near it."""
    atlas = desk.atlas
    read = atlas.read_text(text, 10)
    near = known(lambda: atlas.similar(text=text, n=SIMILAR)) if read.n_known else None
    return {**plain(read), "neighbours": near or []}


def table(desk: Desk, chosen: Choice, rows: Any, shares: Any) -> Iterator[str]:
    """Documents as lines of a CSV file."""
    yield _line(COLUMNS)
    for first in range(0, len(rows), AT_ONCE):
        some = slice(first, first + AT_ONCE)
        infos = _infos(desk, chosen, rows[some], None if shares is None else shares[some])
        yield "".join(_line(_cells(info)) for info in infos)


def _cells(info: Any) -> tuple[Any, ...]:
    topics = "; ".join(f"{one.id}: {one.share:.3f}" for one in info.topics)
    share = "" if info.share is None else f"{info.share:.4f}"
    theme = "" if info.theme is None else info.theme
    return info.row, info.id, info.title, info.date, info.label, info.n_tokens, theme, share, topics


def _line(cells: Any) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerow([_plain(cell) if isinstance(cell, str) else cell for cell in cells])
    return buffer.getvalue()


def _plain(text: str) -> str:
    """A text that every program reads: one that a spreadsheet would take for a formula gets a quote before it."""
    text = text.replace("\0", "").encode("utf-8", "replace").decode()
    return f"'{text}" if is_formula(text) else text
