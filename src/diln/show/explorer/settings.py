"""What a server is told when it starts."""

import ipaddress
import os
import socket
from dataclasses import dataclass, field
from secrets import token_urlsafe

PORT = 8642
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Settings:
    """How a server answers, and whom."""

    host: str = LOOPBACK
    port: int = PORT
    token: str | None = None  # what a request must bear; None: nothing
    hosts: frozenset[str] = frozenset()  # names, in lower case, that this machine is called by, beside addresses
    read_only: bool = False
    page: bool = True  # whether there is a page, or the API alone
    max_body: int = 1_000_000  # bytes of a request
    body_seconds: float = 30.0  # to receive these
    readers: int = field(default_factory=lambda: max(1, (os.cpu_count() or 1)))  # texts that are read at a time
    waiting: int = 16  # texts that may wait for their turn
    listeners: int = 64  # pages that may follow a fit at a time

    @classmethod
    def of(cls, host: str, port: int, *, read_only: bool, page: bool, names: tuple[str, ...] = ()) -> "Settings":
        """For a server at this address: one that others can reach wants a token."""
        near = is_loopback(host)
        known = {"localhost", *(name.lower() for name in names)}
        if not near:
            known |= {host.lower(), socket.gethostname().lower()}
        return cls(host, port, None if near else token_urlsafe(24), frozenset(known), read_only, page)

    def knows(self, host: str) -> bool:
        """Whether a request to this host, as its header has it, can be meant for this server.

        A page of somebody else whose name is made to point to this machine names itself there; an address is nobody's
        name. On loopback only addresses of loopback will do.
        """
        name = host_name(host)
        if name in self.hosts:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not is_loopback(self.host)


def host_name(header: str) -> str:
    """The host of a Host header, without its port, in lower case."""
    header = header.strip().lower()
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.rpartition(":")[0] if header.count(":") == 1 else header


def port_of(header: str) -> str:
    """The port of a Host header, if it names one."""
    _, colon, port = header.rpartition("]")[2].rpartition(":")
    return port.strip() if colon and port.strip().isdecimal() and port.isascii() else ""


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server at this address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
