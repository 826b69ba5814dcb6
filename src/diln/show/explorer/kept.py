"""Answers that were given before: sent again as they are, until something changes."""

import asyncio
from collections import OrderedDict

from diln.show.explorer.desk import Desk
from diln.show.explorer.guard import App, Message, Receive, Scope, Send

ROOM = 64_000_000  # bytes of answers that are kept
LARGEST = 4_000_000  # bytes of one
BESIDE = 2_000  # bytes that one takes beside its question and its text
CHANGING = ("/api/model", "/api/training", "/api/export")  # how addresses begin whose answers change by themselves

Answer = list[Message]


class KeptAnswers:
    """Stands before an application and answers what it has answered before."""

    def __init__(self, app: App, desk: Desk) -> None:
        self.app, self.desk = app, desk
        self.known: OrderedDict[bytes, Answer] = OrderedDict()
        self.asked: dict[bytes, asyncio.Event] = {}
        self.changes, self.bytes = desk.changes, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        path = scope.get("path", "")
        if scope["type"] != "http" or scope["method"] != "GET" or not path.startswith("/api/"):
            await self.app(scope, receive, send)
            return
        if path.startswith(CHANGING):
            await self.app(scope, receive, send)
            return
        if self.changes != self.desk.changes:
            self.known.clear()
            self.changes, self.bytes = self.desk.changes, 0
        key = scope["raw_path"] + b"?" + scope["query_string"]
        if any(name == b"accept-encoding" and b"gzip" in value for name, value in scope.get("headers", ())):
            key = b"gzip " + key  # which may be another answer
        while key in self.asked:  # somebody else asks the same just now
            await self.asked[key].wait()
        known = self.known.get(key)
        if known is not None:
            self.known.move_to_end(key)
            for message in known:
                await send(_copied(message))
            return
        self.asked[key] = asyncio.Event()
        answer: Answer = []
        try:
            await self._ask(key, scope, receive, answer)
        finally:  # nobody waits for the one who asked first to take the answer; a fault has one, too
            self.asked.pop(key).set()
            for message in answer:
                await send(_copied(message))

    async def _ask(self, key: bytes, scope: Scope, receive: Receive, answer: Answer) -> None:
        changes = self.desk.changes

        async def noted(message: Message) -> None:
            answer.append(message)

        await self.app(scope, receive, noted)
        size = _size(key, answer)
        whole = len(answer) == 2 and answer[0].get("status") == 200 and not answer[1].get("more_body", False)
        if whole and size <= LARGEST and changes == self.desk.changes == self.changes:
            self._keep(key, answer, size)

    def _keep(self, key: bytes, answer: Answer, size: int) -> None:
        if key in self.known:
            self.bytes -= _size(key, self.known.pop(key))
        self.known[key] = answer
        self.bytes += size
        while self.bytes > ROOM:
            self.bytes -= _size(*self.known.popitem(last=False))


def _size(key: bytes, answer: Answer) -> int:
    """About how many bytes it takes to keep an answer: what was asked can be longer than what was answered."""
    return BESIDE + len(key) + sum(len(message.get("body", b"")) for message in answer)


def _copied(message: Message) -> Message:
    """A message whose headers can be added to."""
    return {**message, "headers": list(message["headers"])} if "headers" in message else message
