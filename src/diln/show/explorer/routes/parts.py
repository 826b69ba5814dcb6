"""What the addresses of the API have in common: how parameters are read, and what is said where there is nothing."""

from dataclasses import fields
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel

from diln.analysis.records import plain
from diln.show.explorer.desk import Refused
from diln.show.explorer.replies import Json, is_sentence

MOST_ROWS = 200  # documents that are sent at a time
LONGEST = 500  # characters of what is searched for


class Error(BaseModel):
    """What is wrong, in one sentence."""

    error: str


ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": Error, "description": "What was asked for cannot be had"},
    404: {"model": Error, "description": "There is no such thing"},
    409: {"model": Error, "description": "The model is still being fitted"},
    422: {"model": Error, "description": "A parameter is not as it should be"},
}

TopicId = Annotated[int, Path(ge=0, le=100_000, description="Number of a topic")]
Row = Annotated[int, Path(ge=0, le=2**40, description="Number of a document, from 0")]
Number = Annotated[int, Query(ge=1, le=MOST_ROWS, description="How many")]
ThemeNumber = Annotated[
    str,
    Query(alias="n_themes", pattern=r"^(auto|[1-9][0-9]{0,2})$", description="Of how many themes, or auto"),
]
ThemesAsked = Annotated[
    str, Query(alias="n", pattern=r"^(auto|[1-9][0-9]{0,2})$", description="Number of themes, or auto")
]
By = Annotated[str, Query(pattern="^(topic|theme)$", description="topic or theme")]
Ids = Annotated[
    str, Query(pattern=r"^([0-9]{1,6}(,[0-9]{1,6}){0,99})?$", description="Numbers of topics or themes, with commas")
]
Period = Annotated[str, Query(pattern="^(auto|year|quarter|month|week|day)$", description="How long a period is")]


def gives(*kinds: type, several: bool = False, also: str = "") -> dict[int | str, dict[str, Any]]:
    """What an address gives, by the fields of its records."""
    told = [f"{kind.__name__} ({', '.join(one.name for one in fields(kind))})" for kind in kinds]
    return {200: {"description": f"{'A list of ' if several else ''}{' with '.join(told)}{also}."}}


def n_themes(value: str) -> Any:
    """A number of themes as the atlas wants it."""
    return value if value == "auto" else int(value)


def ids_of(value: str) -> list[int] | None:
    """Numbers in a list; None for all."""
    return [int(one) for one in value.split(",")] if value else None


def found(ask: Any) -> Any:
    """The answer about something by its name; where there is no such thing, that is what is wrong."""
    try:
        return ask()
    except ValueError as error:
        if not is_sentence(error):
            raise
        raise Refused(404, str(error)) from None


def known(ask: Any) -> Any:
    """The answer as plain values; None where the model or its corpus does not have what it takes."""
    try:
        return plain(ask())
    except ValueError as error:
        if not is_sentence(error):
            raise
        return None


def said(value: Any, **headers: str) -> Json:
    """Records as JSON."""
    return Json(plain(value), headers=headers)
