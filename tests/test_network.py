"""The guard against the network is on, cannot be got around, and lets local sockets pass."""

import multiprocessing
import os
import socket
import sys
import urllib.request

import pytest

from tests.children import SECONDS, killed
from tests.network import NetworkForbiddenError

# An address and a name that are reserved: they belong to nobody, should the guard fail.
ADDRESS, NAME = ("192.0.2.1", 80), "host.invalid"


def test_connection_raises_and_is_written_down(network_attempts: list[str]) -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_STREAM) as stream,
        pytest.raises(NetworkForbiddenError),
    ):
        stream.connect(ADDRESS)
    assert network_attempts == ["socket.connect 192.0.2.1"]
    network_attempts.clear()


def test_datagram_raises(network_attempts: list[str]) -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
        pytest.raises(NetworkForbiddenError),
    ):
        datagrams.sendto(b"x", ADDRESS)
    assert network_attempts
    network_attempts.clear()


def test_attempt_is_known_though_the_caller_hides_it(network_attempts: list[str]) -> None:
    try:
        urllib.request.urlopen(f"http://{NAME}/", timeout=1)
    except OSError as error:
        hidden = error
    assert "must not reach the network" in str(hidden)
    assert network_attempts == [f"socket.getaddrinfo {NAME}"]
    network_attempts.clear()


def test_local_sockets_pass(network_attempts: list[str]) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(("localhost", server.getsockname()[1])) as client,
    ):
        accepted, _ = server.accept()
        with accepted:
            client.sendall(b"x")
            assert accepted.recv(1) == b"x"
    left, right = socket.socketpair()
    with left, right:
        left.sendmsg([b"y"])
        assert right.recv(1) == b"y"
    assert network_attempts == []


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_forked_children_are_guarded() -> None:
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_connect, daemon=True)
    child.start()
    with killed(child):
        child.join(SECONDS)
    assert child.exitcode == 42


def _connect() -> None:
    try:
        socket.create_connection(ADDRESS, timeout=1)
    except NetworkForbiddenError:
        os._exit(42)


def test_hugging_face_is_offline() -> None:
    from transformers.utils import is_offline_mode

    assert is_offline_mode()
