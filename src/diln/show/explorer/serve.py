"""Serving an application: an address to listen at, and a browser to look with."""

import errno
import ipaddress
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from typing import Any

from diln.errors import DilnError
from diln.show.explorer.settings import PORT

TRIED = 20  # ports after the usual one
BLOCK = 4096  # bytes of the standard input that are read at once
SWITCH = 0.001  # seconds that a thread works on while others wait: answers that are kept are sent at once


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens at this port, or if none is asked for at the usual one or the next that is free."""
    wanted = range(PORT, PORT + TRIED) if port is None else [port]
    for one in wanted:
        try:
            return _bound(host, one)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise DilnError(f"{host}, port {one}: nothing can listen there ({error.strerror or error})") from None
    if port is not None:
        raise DilnError(
            f"port {port} is in use; end what uses it, name another with --port, or leave out --port for a free one"
        )
    raise DilnError(f"the ports from {PORT} to {PORT + TRIED - 1} are in use; name a free one with --port")


def _bound(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    sock = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere two could listen at one port
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen()
    except OSError:
        sock.close()
        raise
    return sock


def address_of(sock: socket.socket, token: str | None = None) -> str:
    """What to open in a browser on this machine."""
    host, port = sock.getsockname()[:2]
    found = ipaddress.ip_address(host)
    if found.is_unspecified:
        found = ipaddress.ip_address("127.0.0.1" if found.version == 4 else "::1")
    name = f"[{found}]" if found.version == 6 else str(found)
    return f"http://{name}:{port}/" + (f"?token={token}" if token else "")


def run(app: Callable[..., Any], sock: socket.socket, *, until_eof: bool = False) -> None:
    """Answer requests until the user ends it (Ctrl-C), which is raised as a KeyboardInterrupt.

    With ``until_eof`` it ends when the standard input does, too: with the process that holds its other end.
    """
    from diln.show.explorer.connections import make_server

    server = make_server(app)
    sys.setswitchinterval(SWITCH)

    def wait() -> None:
        while os.read(sys.stdin.fileno(), BLOCK):  # not by Python's buffer, whose lock must be free when it ends
            pass
        server.should_exit = True

    if until_eof:
        threading.Thread(target=wait, daemon=True).start()
    with sock:
        server.run(sockets=[sock])


def open_browser(address: str) -> None:
    """Open a browser beside what we do, if this machine has one that needs no terminal."""
    graphical = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    if graphical:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
