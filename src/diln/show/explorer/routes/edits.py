"""Changes: names, merges, what is hidden; kept beside the model, whose numbers never change."""

from typing import Annotated, Literal

from fastapi import APIRouter, Body
from pydantic import BaseModel, Field

from diln.analysis import Edits
from diln.errors import StoreError
from diln.show.explorer.desk import Desk, Refused
from diln.show.explorer.replies import Json
from diln.show.explorer.routes.parts import ERRORS, Error, n_themes, said

TopicNumber = Annotated[int, Field(ge=0, le=100_000)]
Label = Annotated[str, Field(max_length=200)]


class Rename(BaseModel):
    """A name for a topic, or for a theme out of ``n``; an empty one takes the name away."""

    action: Literal["rename"]
    label: Label
    topic: TopicNumber | None = None
    theme: TopicNumber | None = None
    n: Annotated[int, Field(ge=1, le=999)] | Literal["auto"] = "auto"


class Merge(BaseModel):
    """Topics that become one, under the number of the one that is kept."""

    action: Literal["merge"]
    keep: TopicNumber
    others: Annotated[list[TopicNumber], Field(min_length=1, max_length=1000)]


class HideOrShow(BaseModel):
    """A topic that is hidden, or shown again, for itself if it was merged."""

    action: Literal["hide", "show"]
    topic: TopicNumber


class Undo(BaseModel):
    """The last change taken back."""

    action: Literal["undo"]


Change = Annotated[Rename | Merge | HideOrShow | Undo, Body(discriminator="action")]


def router(desk: Desk) -> APIRouter:
    """The addresses."""
    routes = APIRouter(prefix="/api", tags=["edits"], responses=ERRORS)

    @routes.get("/edits", summary="Names, merges and hidden topics")
    def edits() -> Json:
        return said(desk.atlas.edits)

    @routes.post(
        "/edits",
        summary="Rename, merge, hide, show, or undo the last change",
        responses={403: {"model": Error}, 413: {"model": Error}, 415: {"model": Error}},
    )
    def change(wanted: Change) -> Json:
        if desk.read_only:
            raise Refused(403, "changes are not allowed here: the server was started with --read-only")
        with desk.lock:
            atlas = desk.atlas
            try:
                edited = atlas.change(lambda edits: changed(desk, edits, wanted))
            except StoreError as error:
                raise Refused(409, f"the change could not be kept: {error}") from None
            desk.show(edited)
        return said(desk.atlas.edits)

    return routes


def changed(desk: Desk, edits: Edits, wanted: Rename | Merge | HideOrShow | Undo) -> Edits:
    """The edits after a change."""
    if isinstance(wanted, Merge):
        return edits.merge([wanted.keep, *wanted.others])
    if isinstance(wanted, HideOrShow):
        return edits.hide([wanted.topic]) if wanted.action == "hide" else edits.show([wanted.topic])
    if isinstance(wanted, Undo):
        return edits.undo()
    if (wanted.topic is None) == (wanted.theme is None):
        raise ValueError("name a topic or a theme, one of them")
    if wanted.topic is not None:
        return edits.rename(wanted.topic, wanted.label)
    theme = desk.themes(n_themes(str(wanted.n))).theme(wanted.theme)
    return edits.rename_theme(theme.topics, wanted.label)
