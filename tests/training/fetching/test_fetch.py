"""Fetching from a real server that misbehaves."""

import random
from hashlib import sha256
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from tests.training.fetching.conftest import Server, cut_off, status, whole
from training.fetching.fetch import TRIES, Wanted, fetch

DATA = random.Random(0).randbytes(700_000)
SHA256 = sha256(DATA).hexdigest()


class Sleeps(list[float]):
    """Waits that were asked for and not kept."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def _wanted(server: Server, sha256: str = SHA256) -> Wanted:
    return Wanted(server.url(), "https://example.org/page", sha256)


def _get(server: Server, target: Path, sha256: str = SHA256) -> Sleeps:
    sleeps = Sleeps()
    assert fetch(_wanted(server, sha256), target, sleep=sleeps) == SHA256
    assert target.read_bytes() == DATA
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    return sleeps


def test_at_once(server: Server, tmp_path: Path) -> None:
    server.replies = [whole(DATA)]
    assert _get(server, tmp_path / "file") == []
    ((path, headers),) = server.requests
    assert path == "/data.bin"
    assert "Range" not in headers


def test_without_a_known_checksum(server: Server, tmp_path: Path) -> None:
    server.replies = [whole(DATA)]
    _get(server, tmp_path / "file", sha256="")


def test_wrong_checksum(server: Server, tmp_path: Path) -> None:
    server.replies = [whole(DATA)]
    with pytest.raises(MedlinkError, match=f"E717.*{SHA256}") as caught:
        fetch(_wanted(server, "0" * 64), tmp_path / "file")
    assert "0" * 64 in caught.value.message
    assert list(tmp_path.iterdir()) == []


def test_busy_then_well(server: Server, tmp_path: Path) -> None:
    server.replies = [status(500), status(503, Retry_After="7"), whole(DATA)]
    assert _get(server, tmp_path / "file") == [2.0, 7.0]


def test_cut_off_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.replies = [cut_off(DATA, 300_000), whole(DATA)]
    assert _get(server, tmp_path / "file") == [2.0]
    assert server.requests[1][1]["Range"] == "bytes=300000-"
    assert server.requests[1][1]["If-Range"] == '"v1"'


def test_cut_off_and_changed_begins_anew(server: Server, tmp_path: Path) -> None:
    server.replies = [cut_off(b"x" * len(DATA), 300_000, '"v0"'), whole(DATA)]
    _get(server, tmp_path / "file")
    assert server.requests[1][1]["Range"] == "bytes=300000-"


@pytest.mark.parametrize("tag", ["", 'W/"v1"'])
def test_cut_off_without_a_sure_tag_begins_anew(server: Server, tmp_path: Path, tag: str) -> None:
    server.replies = [cut_off(DATA, 300_000, tag), whole(DATA)]
    _get(server, tmp_path / "file")
    assert "Range" not in server.requests[1][1]


def test_cut_off_each_time(server: Server, tmp_path: Path) -> None:
    server.otherwise = cut_off(DATA, 10, "")
    sleeps = Sleeps()
    with pytest.raises(MedlinkError, match=r"E711.*cut off after 10 of 700,000 bytes"):
        fetch(_wanted(server), tmp_path / "file", sleep=sleeps)
    assert sleeps == [2.0, 4.0, 8.0, 16.0]
    assert len(server.requests) == TRIES
    assert not (tmp_path / "file").exists()


def test_later_run_goes_on(server: Server, tmp_path: Path) -> None:
    server.replies = [cut_off(DATA, 300_000), *[status(500)] * (TRIES - 1)]
    with pytest.raises(MedlinkError, match=r"E711.*HTTP 500"):
        fetch(_wanted(server), tmp_path / "file", sleep=Sleeps())
    server.requests.clear()
    server.replies = [whole(DATA)]
    _get(server, tmp_path / "file")
    assert server.requests[0][1]["Range"] == "bytes=300000-"


def test_all_had_come(server: Server, tmp_path: Path) -> None:
    """The last byte came, then the connection broke: nothing is left to ask for."""
    server.replies = [cut_off(DATA, 300_000), *[status(500)] * (TRIES - 1)]
    with pytest.raises(MedlinkError, match="E711"):
        fetch(_wanted(server), tmp_path / "file", sleep=Sleeps())
    (tmp_path / "file.part").write_bytes(DATA)
    server.replies = [whole(DATA)]
    _get(server, tmp_path / "file")
    assert server.requests[-1][1]["Range"] == f"bytes={len(DATA)}-"


def test_more_had_come_than_there_is(server: Server, tmp_path: Path) -> None:
    server.replies = [cut_off(DATA, 300_000), *[status(500)] * (TRIES - 1)]
    with pytest.raises(MedlinkError, match="E711"):
        fetch(_wanted(server), tmp_path / "file", sleep=Sleeps())
    (tmp_path / "file.part").write_bytes(DATA + b"more")
    server.otherwise = whole(DATA)
    _get(server, tmp_path / "file")


@pytest.mark.parametrize(
    "page", [b"\n<!DOCTYPE HTML><title>Sign in</title>", b"<html><body>", b"<!-- x --><p>Moved"]
)
def test_log_in_page_instead_of_the_file(server: Server, tmp_path: Path, page: bytes) -> None:
    server.otherwise = whole(page, "text/html; charset=utf-8")
    with pytest.raises(MedlinkError, match=r"E712.*example\.org/page"):
        fetch(_wanted(server, ""), tmp_path / "file")
    assert len(server.requests) == 1
    assert not (tmp_path / "file").exists()


def test_page_that_says_it_is_none(server: Server, tmp_path: Path) -> None:
    server.otherwise = whole(b"<!doctype html>", "application/zip")
    with pytest.raises(MedlinkError, match="E712"):
        fetch(_wanted(server, ""), tmp_path / "file")


def test_archive_that_is_called_a_page(server: Server, tmp_path: Path) -> None:
    data = b"PK\x03\x04" + DATA
    server.otherwise = whole(data, "text/html")
    digest = fetch(_wanted(server, ""), tmp_path / "file")
    assert digest == sha256(data).hexdigest()


@pytest.mark.parametrize(("code", "says"), [(404, "HTTP 404"), (401, "log-in"), (403, "log-in")])
def test_what_will_not_change_is_not_tried_again(
    server: Server, tmp_path: Path, code: int, says: str
) -> None:
    server.otherwise = status(code)
    with pytest.raises(MedlinkError, match=f"E711.*{says}"):
        fetch(_wanted(server), tmp_path / "file", sleep=Sleeps())
    assert len(server.requests) == 1


def test_nobody_answers(server: Server, tmp_path: Path) -> None:
    url = server.url()
    server.server_close()
    sleeps = Sleeps()
    with pytest.raises(MedlinkError, match=r"E711.*refused"):
        fetch(Wanted(url, "https://example.org"), tmp_path / "file", sleep=sleeps)
    assert len(sleeps) == TRIES - 1


def test_key_is_sent_and_never_told(server: Server, tmp_path: Path) -> None:
    server.replies = [cut_off(DATA, 5), *[status(500)] * (TRIES - 1)]
    query = {"url": "https://there/x.zip", "apiKey": "s3cret"}
    wanted = Wanted(server.url("download"), "https://example.org", "", query)
    with pytest.raises(MedlinkError, match="E711") as caught:
        fetch(wanted, tmp_path / "file", sleep=Sleeps())
    assert server.requests[0][0] == "/download?url=https%3A%2F%2Fthere%2Fx.zip&apiKey=s3cret"
    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in (tmp_path / "file.part.json").read_text(encoding="utf8")


def test_redirection_is_followed(server: Server, tmp_path: Path) -> None:
    server.replies = [status(302, Location=server.url("elsewhere")), whole(DATA)]
    _get(server, tmp_path / "file")
    assert [path for path, _ in server.requests] == ["/data.bin", "/elsewhere"]
