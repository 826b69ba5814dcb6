"""Whom a server answers: the checks that a request passes before anything looks at it, and the headers of replies.

A page of somebody else, open in the same browser, can send requests here, and its name can be made to point to this
machine. So the host must be ours, changes must come from our own page, and nobody else may read or frame what we send.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from hmac import compare_digest
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse

from diln.show.explorer.replies import Json, refusal
from diln.show.explorer.settings import Settings, port_of

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CHANGES = ("POST", "PUT", "PATCH", "DELETE")
COOKIE = "diln-token-{port}"  # browsers keep cookies by host: the explorer at another port has a token of its own
POLICY = (
    "default-src 'none'; script-src 'self'{scripts}; style-src 'self'; style-src-attr 'unsafe-inline'; connect-src "
    "'self'; img-src 'self' data: blob:; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class CutOff(HTTPException):
    """A request has more bytes than allowed, or did not come to its end in time."""


class Guard:
    """Stands before an application; ``scripts`` are the digests of scripts inside our own pages."""

    def __init__(self, app: App, settings: Settings, scripts: tuple[str, ...] = ()) -> None:
        self.app, self.settings = app, settings
        allowed = "".join(f" '{digest}'" for digest in scripts)
        self.headers = {**HEADERS, "Content-Security-Policy": POLICY.format(scripts=allowed)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        begun = False

        async def dressed(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        refused = self.refused(scope)
        if refused is not None:
            refused.headers["Connection"] = "close"  # strangers do not ask again and again over one
            await refused(scope, receive, dressed)
            return
        try:
            await self.app(scope, self.limited(receive), dressed)
        except CutOff as error:
            if not begun:
                await refusal(error.status_code, error.detail)(scope, receive, dressed)

    def refused(self, scope: Scope) -> Any:
        """Why a request is not answered, or a reply that stands for the answer; None if it is to be answered."""
        headers = Headers(scope=scope)
        named = headers.getlist("host")
        if len(named) != 1 or not self.settings.knows(named[0]):
            return refusal(
                421,
                "this server is not known by the name in the request; open the address that it printed at its start",
            )
        site = headers.get("sec-fetch-site", "none")
        if site not in ("same-origin", "none") and headers.get("sec-fetch-mode") != "navigate":
            return refusal(403, "another page asks for this; only the explorer's own page may")
        return self._stranger(scope, headers, named[0]) or self._foreign_change(scope, headers, named[0], site)

    def _stranger(self, scope: Scope, headers: Headers, host: str) -> Any:
        """The reply to a request without the token, or to the first that bears it in its address."""
        token = self.settings.token
        if token is None:
            return None
        cookie = COOKIE.format(port=port_of(host) or self.settings.port)
        if _same(_borne(scope, headers, cookie), token):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["method"] in ("GET", "HEAD") and _same(dict(query).get("token", ""), token):
            rest = urlencode([(name, value) for name, value in query if name != "token"])
            reply = RedirectResponse(_local(scope["path"]) + (f"?{rest}" if rest else ""), 303)
            reply.set_cookie(cookie, token, httponly=True, samesite="strict", path="/")
            return reply
        return refusal(
            401, "a token is missing; open the address that the server printed at its start", WWW_Authenticate="Bearer"
        )

    def _foreign_change(self, scope: Scope, headers: Headers, host: str, site: str) -> Json | None:
        """Why a request that changes something, or has us work, is not for us."""
        if scope["method"] not in CHANGES:
            return None
        origin = headers.get("origin")
        if site not in ("same-origin", "none") or (origin is not None and _host_of(origin) != host.strip().lower()):
            return refusal(403, "another page asks for a change; only the explorer's own page may")
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return refusal(415, "the request is not JSON; send it with Content-Type: application/json")
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > self.settings.max_body:
            too_large = self.too_large()
            return refusal(too_large.status_code, too_large.detail)
        return None

    def limited(self, receive: Receive) -> Receive:
        """What receives a request of bounded size in bounded time."""
        left = self.settings.max_body
        ends = asyncio.get_running_loop().time() + self.settings.body_seconds
        whole = False

        async def limited() -> Message:
            nonlocal left, whole
            if whole:  # what comes now is that the client goes away, whenever that is
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), ends - asyncio.get_running_loop().time())
            except TimeoutError:
                raise CutOff(408, "the request did not come to its end in time; try again") from None
            left -= len(message.get("body", b""))
            if left < 0:
                raise self.too_large()
            whole = not message.get("more_body", False)
            return message

        return limited

    def too_large(self) -> CutOff:
        """What is wrong with a request that is too large."""
        return CutOff(413, f"the request has more than {self.settings.max_body:,} bytes; send a shorter text")


def _host_of(origin: str) -> str:
    """The host and port of an origin; nothing where it is none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _borne(scope: Scope, headers: Headers, cookie: str) -> str:
    """The token that a request bears in a header or a cookie."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    return HTTPConnection(scope).cookies.get(cookie, "")  # as browsers read them: odd ones of others do not matter


def _same(given: str, token: str) -> bool:
    return compare_digest(given.encode("utf-8", "surrogateescape"), token.encode())


def _local(path: str) -> str:
    """A path of this server, and of no other: two slashes would name one."""
    return "/" + path.lstrip("/\\")
