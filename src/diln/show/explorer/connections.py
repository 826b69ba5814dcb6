"""Connections to the server: how many there may be, and how long one may have its place while its client does nothing.

Neither uvicorn nor hypercorn nor granian bounds all of it: the time until the head of a request is whole, the time in
which answers are taken, and the number of connections. So this is uvicorn's protocol, with a timer and a list.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from socket import socket
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 1000  # connections, where files are many
FIRST = 10.0  # seconds from the connection to the whole head of its first request
FILES = 4 * MOST  # that may be open
BACKLOG = 2048  # who the system lets wait before they are accepted
NEXT = 30  # seconds from an answer to the whole head of the next request
UNREAD = 30  # seconds in which a client must take some of what is sent
GRACE = 2  # seconds that requests under way have when the server is to end
STEP = 16_384  # bytes that are some
LOGGED = 10  # messages from one place in the code ...
MINUTE = 60.0  # ... in so many seconds
LOGS = ("asyncio", "diln.explorer", "uvicorn.error")  # where strangers can have something written


class Waiting:
    """The connections of a server that wait for their clients, those that have waited longest first."""

    def __init__(self, most: int) -> None:
        self.most = most  # connections, waiting or not
        self.connections: dict[Connection, None] = {}

    def make_room(self) -> bool:
        """Close the oldest of the address that has most of them, if there is any.

        So those who ask are answered, however many connections others keep open.
        """
        if not self.connections:
            return False
        ((address, _),) = Counter(connection.address for connection in self.connections).most_common(1)
        next(connection for connection in self.connections if connection.address == address).end()
        return True


class Connection(H11Protocol):
    """A connection that is closed if its client neither asks for something nor takes the answer."""

    def __init__(self, *args: Any, waiting: Waiting, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.waiting, self.address, self.unsent = waiting, "", 0
        self.timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        if len(self.connections) > self.waiting.most and not self.waiting.make_room():
            transport.abort()
        else:
            self.wait(FIRST)

    def wait(self, seconds: float) -> None:
        """Give the client some time, which a byte now and then does not prolong."""
        self.go_on()
        self.waiting.connections[self] = None
        self.unsent = self.transport.get_write_buffer_size()
        self.timer = self.loop.call_later(seconds, self.late)

    def go_on(self) -> None:
        """Stop waiting: it is for the server to do something."""
        self.waiting.connections.pop(self, None)
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def late(self) -> None:
        """Wait on if the client is slow, and end if it does nothing."""
        if self.transport.get_write_buffer_size() <= self.unsent - STEP:
            self.wait(UNREAD)
        else:
            self.end()

    def end(self) -> None:
        """Close at once: what is not sent by now nobody wants."""
        self.go_on()
        self.connections.discard(self)  # its place is free before the event loop has told so
        self.transport.abort()

    @property
    def answering(self) -> bool:
        """Whether a request is there and its answer is not whole."""
        return self.cycle is not None and not self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        """Take what has come."""
        super().data_received(data)
        if self.answering and not self.flow.write_paused:
            self.go_on()

    def on_response_complete(self) -> None:
        """Wait for the next request, if it is not there already."""
        super().on_response_complete()
        if not self.answering:
            self.wait(NEXT)

    def pause_writing(self) -> None:
        """Wait until the client has taken some of what is sent."""
        super().pause_writing()
        self.wait(UNREAD)

    def resume_writing(self) -> None:
        """Send more, if there is more."""
        super().resume_writing()
        if self.answering:
            self.go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self.go_on()
        super().connection_lost(exc)


class Server(uvicorn.Server):
    """A server that accepts few connections at once, of the many that the system keeps until then."""

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        for sock in sockets or ():
            sock.listen(BACKLOG)


def make_server(app: Callable[..., Any], most: int | None = None) -> Server:
    """A server of an application, with no more connections than ``most``, or than the system allows."""
    allowed, at_once = bounds()
    connection: Any = partial(Connection, waiting=Waiting(most or allowed))
    config = uvicorn.Config(
        app, http=connection, log_level="warning", access_log=False, lifespan="on", server_header=False,
        proxy_headers=False, timeout_graceful_shutdown=GRACE, timeout_keep_alive=NEXT, ws="none", backlog=at_once,
    )  # fmt: skip
    for name in LOGS:
        logging.getLogger(name).addFilter(FEW)
    return Server(config)


def bounds() -> tuple[int, int]:
    """How many connections there may be, and how many may be accepted at once.

    All of them are fewer than the files that may be open: at that limit the event loop tries again and again, and logs
    each time. The limit is raised as far as the system allows, as Go does for its programs.
    """
    try:
        import resource
    except ImportError:  # on Windows there is no such limit
        return MOST, MOST // 8
    files, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != resource.RLIM_INFINITY and files < FILES:
        files = FILES if allowed == resource.RLIM_INFINITY else max(files, min(FILES, allowed))
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, allowed))
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    most = MOST if files == resource.RLIM_INFINITY else max(8, min(MOST, files // 2))
    return most, max(4, most // 8)


class FewOfAKind(logging.Filter):
    """Lets through some messages a minute from each place in the code, and says later how many it has left out."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[tuple[str, int], tuple[float, int]] = {}  # since when, and how many

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a message is logged."""
        place, now = (record.pathname, record.lineno), time.monotonic()
        since, count = self.counts.get(place, (now, 0))
        if now - since >= MINUTE:
            if count > LOGGED:
                record.msg, record.args = f"{record.getMessage()} ({count - LOGGED:,} more were left out)", None
            since, count = now, 0
        self.counts[place] = since, count + 1
        return count < LOGGED


FEW = FewOfAKind()
