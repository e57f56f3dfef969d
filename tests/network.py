"""Forbid connections to other machines, in this process and in the children it forks."""

import ipaddress
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

ATTEMPTS: list[str] = []

# Audit events come from the interpreter itself: no way of importing or wrapping a socket gets
# around them. The first are given a name to look up, the second a socket and an address.
_LOOKUPS = {"socket.getaddrinfo", "socket.gethostbyname"}
_CONNECTIONS = {"socket.connect", "socket.sendto", "socket.sendmsg"}

_active = False
_installed = False


class NetworkForbiddenError(OSError):
    """A test tried to reach another machine."""


@contextmanager
def guarded() -> Iterator[None]:
    """Make every attempt to reach another machine raise, and write it down in ATTEMPTS."""
    global _active, _installed
    if not _installed:  # an audit hook stays for the life of the process
        sys.addaudithook(_audit)
        _installed = True
    _active = True
    try:
        yield
    finally:
        _active = False


@contextmanager
def held_port() -> Iterator[int]:
    """Hold a port of this machine that refuses connections until a child listens on it.

    A port that is only asked for and let go may be that of another process by then. A server that
    reuses addresses, as those of asyncio and torch do, can listen on this one.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield int(holder.getsockname()[1])


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if not _active:
        return
    if event in _LOOKUPS:
        host = arguments[0]
    elif event in _CONNECTIONS:
        address = arguments[1]
        # What is no tuple is the path of a Unix socket, or None: already connected.
        host = address[0] if isinstance(address, tuple) else None
    else:
        return
    if not _is_local(host):
        ATTEMPTS.append(f"{event} {host}")
        raise NetworkForbiddenError(f"tests must not reach the network: {event} {host}")


def _is_local(host: object) -> bool:
    if isinstance(host, bytes | bytearray):
        host = os.fsdecode(bytes(host))
    if not isinstance(host, str):  # None is this machine; numbers are sockets of the kernel
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host in {"", "localhost", socket.gethostname()}
    return address.is_loopback or address.is_unspecified
