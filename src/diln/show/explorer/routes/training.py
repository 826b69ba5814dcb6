"""The course of the fit: what is known, and what comes while it goes on."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse

from diln.show.explorer.desk import Desk, Refused
from diln.show.explorer.replies import Json, finite
from diln.show.explorer.routes.parts import ERRORS, Error
from diln.show.explorer.training import Training

EVERY = 0.4  # seconds from one look to the next
SILENCE = 15.0  # seconds after which a comment says that all is well


def router(desk: Desk, listeners: int) -> APIRouter:
    """The addresses."""
    routes = APIRouter(prefix="/api", tags=["training"], responses=ERRORS)
    listening = 0

    @routes.get("/training", summary="How the fit went, or goes: a row for every sweep")
    def training() -> Json:
        return Json(course(desk).told())

    @routes.get(
        "/training/events",
        summary="Server-sent events while the fit goes on: progress, map, done",
        response_class=StreamingResponse,
        responses={200: {"content": {"text/event-stream": {}}}, 503: {"model": Error}},
    )
    async def events(
        since: Annotated[int | None, Query(ge=0, le=10**9, description="Rows that are known already")] = None,
        last_event_id: Annotated[str | None, Header()] = None,
    ) -> StreamingResponse:
        nonlocal listening
        if listening >= listeners:
            raise Refused(503, "too many pages follow the fit; close one of them", Retry_After="10")
        known = course(desk)
        after = int(last_event_id[:9]) if last_event_id and last_event_id.isdecimal() else since

        async def told() -> AsyncIterator[str]:
            nonlocal listening
            listening += 1  # here: who goes away before the first event does not count
            try:
                async for event in follow(known, len(known.rows) if after is None else after):
                    yield event
            finally:
                listening -= 1

        return StreamingResponse(told(), media_type="text/event-stream")

    return routes


def course(desk: Desk) -> Training:
    """The course of the fit that was followed, or that the model remembers."""
    return desk.training or Training(desk.atlas.fitted.history)


async def follow(training: Training, number: int) -> AsyncIterator[str]:
    """Events from this row on, until the fit is over and its model open."""
    loop, seen, quiet = asyncio.get_running_loop(), None, 0.0
    while True:
        await loop.run_in_executor(None, training.poll)
        ended, rows = training.ended, training.rows[number:]
        for row in rows:
            number += 1
            yield event("progress", row, number)
        if training.latest is not None and training.latest is not seen:
            seen = training.latest
            if seen["map"] is not None:
                yield event("map", seen)
        if ended:
            yield event("done", {"note": training.note})
            return
        quiet = 0.0 if rows else quiet + EVERY
        if quiet >= SILENCE:
            quiet = 0.0
            yield ": waiting\n\n"
        await asyncio.sleep(EVERY)


def event(name: str, data: dict[str, Any], number: int | None = None) -> str:
    """An event as a browser's EventSource reads it."""
    head = "" if number is None else f"id: {number}\n"
    return f"{head}event: {name}\ndata: {json.dumps(finite(data), allow_nan=False)}\n\n"
