"""Fetching from a real server that misbehaves."""

import random
from hashlib import sha256
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from tests.network import held_port
from tests.training.fetching.conftest import Server, status, whole
from training.fetching.fetch import TRIES, fetch

DATA = random.Random(0).randbytes(700_000)
SHA256 = sha256(DATA).hexdigest()
PAGE = "https://example.org/page"


def _get(server: Server, target: Path, known: str = SHA256) -> None:
    assert fetch(server.url(), target, PAGE, known) == SHA256
    assert target.read_bytes() == DATA
    assert [path.name for path in target.parent.iterdir()] == [target.name]


@pytest.mark.parametrize("known", [SHA256, ""])
def test_at_once(server, tmp_path, known):
    server.replies = [whole(DATA)]
    _get(server, tmp_path / "file", known)
    assert server.requests == ["/data.bin"] and server.slept == []


def test_busy_or_cut_off_then_well(server, tmp_path):
    server.replies = [status(500), whole(DATA, cut=300_000), status(429), whole(DATA)]
    _get(server, tmp_path / "file")
    assert server.slept == [2.0, 4.0, 8.0]


def test_redirection_is_followed(server, tmp_path):
    server.replies = [status(302, Location=server.url("elsewhere")), whole(DATA)]
    _get(server, tmp_path / "file")


def test_cut_off_each_time_leaves_nothing(server, tmp_path):
    server.otherwise = whole(DATA, cut=10)
    with pytest.raises(MedlinkError, match=r"E711.*10 bytes read"):
        fetch(server.url(), tmp_path / "file", PAGE)
    assert len(server.requests) == TRIES
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("data", "kind", "code"),
    [
        (DATA, "application/zip", "E211"),
        (b"\n<!DOCTYPE HTML><title>Sign in</title>", "text/html; charset=utf-8", "E712"),
        (b"<html><body>", "application/zip", "E712"),
    ],
)
def test_another_file_or_a_page_is_not_kept(server, tmp_path, data, kind, code):
    server.otherwise = whole(data, kind)
    with pytest.raises(MedlinkError, match=code):
        fetch(server.url(), tmp_path / "file", PAGE, "0" * 64)
    assert len(server.requests) == 1 and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("code", "says"), [(404, "HTTP 404"), (401, "log-in"), (403, "log-in")])
def test_what_will_not_change_is_not_tried_again(server, tmp_path, code, says):
    server.otherwise = status(code)
    with pytest.raises(MedlinkError, match=f"E711.*{says}"):
        fetch(server.url(), tmp_path / "file", PAGE)
    assert len(server.requests) == 1


def test_nobody_waits_where_there_is_no_network(server, tmp_path):
    with held_port() as port, pytest.raises(MedlinkError, match=r"E711.*refused"):
        fetch(f"http://127.0.0.1:{port}/", tmp_path / "file", PAGE)
    assert server.slept == []


@pytest.mark.parametrize("reply", [status(500), whole(DATA, cut=5)])
def test_key_is_sent_and_never_told(server, tmp_path, reply):
    server.otherwise = reply
    query = {"url": "https://there/x.zip", "apiKey": "s3cret"}
    with pytest.raises(MedlinkError, match="E711") as caught:
        fetch(server.url("download"), tmp_path / "file", PAGE, "", query)
    assert server.requests[0] == "/download?url=https%3A%2F%2Fthere%2Fx.zip&apiKey=s3cret"
    assert "s3cret" not in str(caught.value)
    with held_port() as port, pytest.raises(MedlinkError, match="E711") as caught:
        fetch(f"http://127.0.0.1:{port}/download", tmp_path / "file", PAGE, "", query)
    assert "s3cret" not in str(caught.value)
