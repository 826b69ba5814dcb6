"""The application: its addresses, what becomes of errors, and the guard before all."""

import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware

from diln import __version__
from diln.errors import DilnError, one_line
from diln.show.explorer import docs, static
from diln.show.explorer.desk import Desk, Refused, Turns
from diln.show.explorer.guard import Guard
from diln.show.explorer.kept import KeptAnswers
from diln.show.explorer.replies import Json, is_sentence, refusal
from diln.show.explorer.routes import documents, edits, overview, training
from diln.show.explorer.settings import Settings

LOG = logging.getLogger("diln.explorer")
THREADS = 4 * (os.cpu_count() or 1)  # requests that are worked on at a time
PACKED = 1000  # bytes from which an answer to other machines is packed: less is one packet anyway
LEVEL = 5  # of 9, which takes three times as long and more, and saves a few hundredths
FAULT = "this is a fault of diln: please report it with what the terminal shows"
NO_JSON = "the request is not JSON that can be read"
UNKNOWN = "there is nothing at this address; /docs lists what there is"


def make_app(desk: Desk, settings: Settings) -> Guard:
    """The application for a server, or for tests."""
    app = FastAPI(
        title="diln",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        default_response_class=Json,
        lifespan=_few_threads,
    )
    _errors(app)
    turns = Turns(settings.readers, settings.waiting)
    parts = [overview.router(desk), documents.router(desk, turns), edits.router(desk)]
    for routes in (*parts, training.router(desk, settings.listeners)):
        app.include_router(routes)
    files = static.table(page=settings.page)
    _pages(app, files)
    # Packed text gives away by its length whether what a stranger has us say is like a secret beside it (BREACH): the
    # token is in no body, what Guard itself says is not packed, and nobody else's page may ask.
    packed = app if settings.token is None else GZipMiddleware(app, PACKED, LEVEL)
    return Guard(KeptAnswers(packed, desk), settings, static.digests(files))


@asynccontextmanager
async def _few_threads(_: FastAPI) -> AsyncIterator[None]:
    """Work on few requests at a time: many threads that all want to work only keep each other waiting."""
    current_default_thread_limiter().total_tokens = THREADS
    yield


def _pages(app: FastAPI, files: dict[str, Any]) -> None:
    @app.get("/docs", include_in_schema=False)
    def described() -> Response:
        return Response(docs.page(app.openapi()), media_type="text/html")

    @app.get("/{name:path}", include_in_schema=False)
    def page(request: Request, name: str) -> Response:
        file = files.get(f"/{name}")
        return refusal(404, UNKNOWN) if file is None else static.reply(request, file)


def _errors(app: FastAPI) -> None:
    """Have every error be a sentence."""

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> Json:
        return refusal(error.status, error.sentence, **error.headers)

    @app.exception_handler(RequestValidationError)
    async def wrong(_: Request, error: RequestValidationError) -> Json:
        return refusal(422, "; ".join(_sentence(one) for one in error.errors()[:3]))

    @app.exception_handler(HTTPException)
    async def other(_: Request, error: HTTPException) -> Json:
        sentence = {400: NO_JSON, 404: UNKNOWN, 405: "this address does not take such a request; see /docs"}
        return refusal(error.status_code, sentence.get(error.status_code, str(error.detail)), **(error.headers or {}))

    @app.exception_handler(ValueError)
    async def impossible(_: Request, error: ValueError) -> Json:
        if not is_sentence(error):
            raise error
        return refusal(400, str(error))

    @app.exception_handler(DilnError)
    async def broken(_: Request, error: DilnError) -> Json:
        LOG.error("%s", error)
        return refusal(500, "a file of the model or its corpus cannot be read; the terminal says which")

    @app.exception_handler(Exception)
    async def fault(_: Request, error: Exception) -> Json:
        return refusal(500, FAULT)


def _sentence(error: dict[str, Any]) -> str:
    """What is wrong with a parameter."""
    where = ".".join(str(part) for part in error["loc"][1:]) or "the request"
    return one_line(f"{where}: {error['msg']}")
