"""Connections to a server: who does nothing loses its place, who asks is answered, and the log stays small."""

import asyncio
import json
import logging
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest

from diln.show.explorer import connections
from diln.show.explorer.connections import FewOfAKind, bounds, make_server
from diln.show.explorer.guard import Guard
from diln.show.explorer.serve import listen
from diln.show.explorer.settings import Settings

ATTACK = Path(__file__).parents[3] / "benchmarks" / "explorer_attack.py"
HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
LARGE = 8_000_000  # bytes of an answer: more than the system takes at once

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sockets tell of their end in another way")


async def app(scope, receive, send):
    """Something short; a stream of events without end; something long."""
    if scope["type"] == "lifespan":
        while (message := await receive())["type"] != "lifespan.shutdown":
            await send({"type": message["type"] + ".complete"})
        return await send({"type": "lifespan.shutdown.complete"})
    await send({"type": "http.response.start", "status": 200, "headers": []})
    if scope["path"] == "/large":
        return await send({"type": "http.response.body", "body": LARGE * b"x"})
    number = 0
    while scope["path"] == "/events":
        number += 1
        await send({"type": "http.response.body", "body": b"data: %d\n\n" % number, "more_body": True})
        await asyncio.sleep(0.05)
    return await send({"type": "http.response.body", "body": b"hello"})


@contextmanager
def served(most=None, token=None):
    sock = listen("127.0.0.1", 0)
    settings = Settings(token=token, hosts=frozenset({"localhost"}), body_seconds=0.3)
    server = make_server(Guard(app, settings), most)
    thread = threading.Thread(target=server.run, args=([sock],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield sock.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(30)
        sock.close()
        assert not thread.is_alive()


@pytest.fixture
def soon(monkeypatch):
    """All deadlines are short."""
    for name in ("FIRST", "NEXT", "UNREAD"):
        monkeypatch.setattr(connections, name, 1.0)


def connected(port, source="127.0.0.1"):
    return socket.create_connection(("127.0.0.1", port), timeout=10, source_address=(source, 0))


def asked(port, path="/", source="127.0.0.1"):
    """The whole of an answer."""
    with connected(port, source) as link:
        link.sendall(HEAD.replace(b" / ", b" %s " % path.encode()) + b"Connection: close\r\n\r\n")
        return b"".join(iter(lambda: link.recv(1 << 20), b""))


def listening(port):
    """A connection over which events come."""
    link = connected(port)
    link.sendall(HEAD.replace(b" / ", b" /events ") + b"\r\n")
    assert b" 200 " in link.recv(65536)
    return link


def closed_after(link, dribble=b"", begun=None):
    """Seconds until the server closes a connection to which a byte is sent now and then."""
    begun = begun or time.monotonic()
    link.settimeout(0.05)
    while time.monotonic() < begun + 20:
        try:
            if dribble:
                link.sendall(dribble)
            if not link.recv(65536):
                break
        except TimeoutError:
            continue
        except OSError:
            break
    return time.monotonic() - begun


@pytest.mark.parametrize(
    ("first", "dribble"), [(b"", b""), (HEAD, b""), (b"", b"G"), (HEAD, b"x"), (b"POST / HTTP/1.1\r\n", b"a")]
)
def test_a_head_that_does_not_come_to_its_end_is_given_up(soon, first, dribble):
    with served() as port:
        begun = time.monotonic()
        with connected(port) as link:
            link.sendall(first)
            assert 0.7 < closed_after(link, dribble, begun) < 10


@pytest.mark.parametrize("token", [None, "secret"])
@pytest.mark.parametrize("length", [b"Content-Length: 100000", b"Transfer-Encoding: chunked"])
def test_a_body_that_does_not_come_to_its_end_is_given_up(soon, token, length):
    with served(token=token) as port, connected(port) as link:
        link.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + length + b"\r\n\r\n")
        assert closed_after(link, b"\r\n" if b"chunked" in length else b"x") < 10


def test_the_next_request_of_a_connection_must_come_to_its_end_too(soon):
    with served() as port, connected(port) as link:
        begun = time.monotonic()
        link.sendall(HEAD + b"\r\n")
        assert b" 200 " in link.recv(65536)
        assert 0.7 < closed_after(link, b"x", begun) < 10


def test_who_keeps_asking_is_answered_over_one_connection(soon):
    with served() as port, closing(HTTPConnection("127.0.0.1", port, timeout=5)) as link:
        for _ in range(6):
            link.request("GET", "/", headers={"Host": "localhost"})
            assert link.getresponse().read() == b"hello"
            time.sleep(0.25)


def test_a_stream_of_events_outlives_all_deadlines(soon):
    with served() as port, listening(port) as link:
        ends = time.monotonic() + 2.5
        while time.monotonic() < ends:
            assert link.recv(65536)


def test_a_slow_client_gets_the_whole_of_a_long_answer(soon, monkeypatch):
    monkeypatch.setattr(connections, "STEP", 100)
    with served() as port, connected(port) as link:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        link.sendall(HEAD.replace(b" / ", b" /large ") + b"Connection: close\r\n\r\n")
        size, ends = 0, time.monotonic() + 30
        while (piece := link.recv(200_000)) and time.monotonic() < ends:
            size += len(piece)
            time.sleep(0.04)
        assert size > LARGE


def test_who_does_not_take_the_answer_is_given_up(soon):
    with served() as port, connected(port) as link:
        link.sendall(HEAD.replace(b" / ", b" /large ") + b"\r\n")
        time.sleep(3)
        link.settimeout(5)
        size = 0
        with suppress(ConnectionError):
            while piece := link.recv(1 << 20):
                size += len(piece)
        assert size < LARGE


def test_newcomers_take_the_places_of_those_who_wait():
    with served(most=4) as port, ExitStack() as stack:
        for _ in range(12):
            stack.enter_context(connected(port)).sendall(HEAD)
        for source in ("127.0.0.2", "127.0.0.1"):
            assert b"hello" in asked(port, source=source)


@pytest.mark.skipif(sys.platform == "darwin", reason="there is one loopback address")
def test_an_address_that_holds_many_places_does_not_take_those_of_others():
    with served(most=6) as port, ExitStack() as stack, connected(port, "127.0.0.2") as early:
        for _ in range(3):
            early.sendall(HEAD + b"\r\n")
            answer = b""
            while b"hello" not in answer:
                piece = early.recv(65536)
                assert piece
                answer += piece
            for _ in range(12):
                stack.enter_context(connected(port)).sendall(HEAD)
            time.sleep(0.1)


def test_answers_under_way_keep_their_places():
    with served(most=3) as port, ExitStack() as stack:
        streams = [stack.enter_context(listening(port)) for _ in range(3)]
        with connected(port) as link:
            assert closed_after(link) < 8
        for stream in streams:
            assert all(stream.recv(100) for _ in range(20))
        streams[0].close()
        ends, answer = time.monotonic() + 5, b""
        while not answer and time.monotonic() < ends:
            with suppress(OSError):
                answer = asked(port)
        assert b"hello" in answer


def test_there_are_fewer_connections_than_files():
    limits = (
        "import resource, sys; from diln.show.explorer.connections import bounds; "
        "limit = tuple(map(int, sys.argv[1:])); resource.setrlimit(resource.RLIMIT_NOFILE, limit); "
        "print(*bounds(), resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    for soft, hard, expected in ((64, 64, (32, 4, 64)), (256, 2048, (1000, 125, 2048)), (256, 9000, (1000, 125, 4000))):
        command = [sys.executable, "-c", limits, str(soft), str(hard)]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert tuple(map(int, printed.split())) == expected
    most, at_once = bounds()
    assert at_once < most


def test_messages_of_one_kind_are_few_and_counted(monkeypatch):
    times = iter([0.0] * 50 + [100.0] * 2)
    monkeypatch.setattr(connections.time, "monotonic", lambda: next(times))
    kept = FewOfAKind()

    def passed(line):
        record = logging.LogRecord("x", logging.ERROR, "file.py", line, "bad %s", ("request",), None)
        return record.getMessage() if kept.filter(record) else None

    assert sum(passed(1) is not None for _ in range(49)) == connections.LOGGED
    assert passed(2) == "bad request"
    assert passed(1) == "bad request (39 more were left out)"
    assert passed(1) == "bad request"


@pytest.mark.skipif(sys.platform != "linux", reason="there is one loopback address")
def test_strangers_cannot_lock_readers_out(shop, tmp_path):
    """The attacks themselves, on a server with fewer files than there are connections."""
    out = tmp_path / "result.json"
    attacks = [
        "--attack",
        "dribble",
        "--attack",
        "garbage",
        "--seconds",
        "5",
        "--connections",
        "400",
        "--out",
        str(out),
    ]
    done = subprocess.run([sys.executable, ATTACK, str(shop / "model0"), *attacks], capture_output=True, timeout=300)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    for tally in json.loads(out.read_text())["attacks"].values():
        assert tally["answers"] > 3
        assert tally["bytes of log"] < 100_000
        assert re.fullmatch(r"[\d.]+", str(tally["slowest s"]))
