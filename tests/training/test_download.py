"""The command: sources on a real server, what it puts in place, and its exit codes."""

import io
import json
import zipfile
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest

from tests.training.conftest import Call
from tests.training.fetching.conftest import Server, status, whole
from tests.training.fetching.conftest import server as server
from training import download as command
from training.corpora.registry import CORPORA
from training.fetching import place, sources
from training.fetching.sources import SOURCES, Remote, Source, find_source


def _zip(**members: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in members.items():
            # Without a given time, the clock's is written: two archives of the same would differ.
            archive.writestr(zipfile.ZipInfo(f"{name}.txt"), text)
    return buffer.getvalue()


@pytest.fixture
def cli(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Call:
    monkeypatch.chdir(tmp_path)
    return partial(call, command.main)


@pytest.fixture
def local(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A source of two files on the server, the second with a checksum and a mirror."""
    second = _zip(b="two")
    digest = sha256(second).hexdigest()
    files = (
        Remote((server.url("a.zip"),)),
        Remote((server.url("gone.zip"), server.url("b.zip")), "sub", digest),
    )
    source = Source("local", "CC0, says the test", "https://example.org", files)
    monkeypatch.setitem(SOURCES, "local", source)
    server.replies = [whole(_zip(a="one")), status(404), whole(second)]
    return server


def test_files_are_unpacked_and_noted(cli, local: Server, tmp_path: Path) -> None:
    code, out, err = cli("local", "--output", "there")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "local: CC0, says the test. See https://example.org"
    assert "none is known to compare it with" in out
    assert "as expected" in out
    assert (tmp_path / "there/a.txt").read_text() == "one"
    assert (tmp_path / "there/sub/b.txt").read_text() == "two"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["downloads", "there"]
    about = json.loads((tmp_path / "there/download.json").read_text())
    assert [file["origin"].rpartition("/")[2] for file in about["files"]] == ["a.zip", "b.zip"]
    assert about["files"][0]["sha256"] == sha256(_zip(a="one")).hexdigest()


def test_licence_is_shown_before_anything_else(cli, local: Server) -> None:
    local.replies = [status(404)]
    code, out, err = cli("local")
    assert code == 1
    assert out == "local: CC0, says the test. See https://example.org\n"
    assert err.startswith("[E711]")


def test_second_try_keeps_what_had_come(cli, local: Server, tmp_path: Path) -> None:
    local.replies[1:] = [status(404), status(404)]
    code, _, err = cli("local")
    assert (code, err[:6]) == (1, "[E711]")
    assert not (tmp_path / "corpora/local").exists()
    local.requests.clear()
    local.replies = [status(404), whole(_zip(b="two"))]
    code, _, err = cli("local")
    assert (code, err) == (0, "")
    assert [path for path, _ in local.requests] == ["/gone.zip", "/b.zip"]
    assert (tmp_path / "corpora/local/a.txt").exists()


def test_archive_that_is_none(cli, local: Server, tmp_path: Path) -> None:
    local.replies[0] = whole(_zip(a="one")[:-10])
    code, _, err = cli("local")
    # Without its end a zip is any other file: it is kept as such, and no converter will take it.
    assert (code, err) == (0, "")
    assert (tmp_path / "corpora/local/a.zip").is_file()


def test_directory_of_somebody_else(cli, local: Server, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("precious")
    code, _, err = cli("local", "--output", "mine")
    assert (code, err[:6]) == (1, "[E718]")
    assert (tmp_path / "mine/notes.txt").read_text() == "precious"
    assert local.requests == []


def test_download_again_replaces(cli, local: Server, tmp_path: Path) -> None:
    replies = list(local.replies)
    assert cli("local")[0] == 0
    (tmp_path / "corpora/local/a.txt").write_text("changed")
    local.replies = replies
    assert cli("local")[0] == 0
    assert (tmp_path / "corpora/local/a.txt").read_text() == "one"


def test_behind_a_form(cli, tmp_path: Path) -> None:
    code, out, err = cli("mcn")
    assert (code, err[:6]) == (1, "[E713]")
    assert "data use agreement" in out
    assert "--file" in err
    (tmp_path / "mcn.zip").write_bytes(_zip(note="x"))
    code, out, _ = cli("mcn", "--file", "mcn.zip")
    assert code == 0
    assert (tmp_path / "corpora/mcn/note.txt").read_text() == "x"
    assert sha256((tmp_path / "mcn.zip").read_bytes()).hexdigest() in out


def test_saved_log_in_page(cli, tmp_path: Path) -> None:
    (tmp_path / "mcn.zip").write_text("<!DOCTYPE html><title>Sign in</title>")
    code, _, err = cli("mcn", "--file", "mcn.zip")
    assert (code, err[:6]) == (1, "[E712]")
    assert not (tmp_path / "corpora").exists()


def test_file_with_a_known_checksum(cli, tmp_path: Path) -> None:
    (tmp_path / "NCBItestset_corpus.zip").write_bytes(_zip(a="not it"))
    code, _, err = cli("ncbi-disease", "--file", "NCBItestset_corpus.zip")
    assert (code, err[:6]) == (1, "[E717]")


def test_unknown_name_lists_the_known(cli) -> None:
    code, _, err = cli("medmention")
    assert (code, err[:6]) == (1, "[E704]")
    assert "medmentions-st21pv" in err


def test_umls(cli, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UMLS_API_KEY", raising=False)
    assert cli("umls", "--release", "2024AB")[2].startswith("[E715]")
    monkeypatch.setenv("UMLS_API_KEY", "s3cret")
    assert cli("umls")[2].startswith("[E716]")
    monkeypatch.setattr(place, "UTS", server.url("download"))
    server.replies = [whole(_zip(MRCONSO="C0010200|ENG|"))]
    code, out, err = cli("umls", "--release", "2024AB", "--output", "umls")
    assert (code, err) == (0, "")
    (path, _), *_ = server.requests
    assert path.endswith("umls-2024AB-metathesaurus-full.zip&apiKey=s3cret")
    written = "".join(p.read_text() for p in (tmp_path / "umls").iterdir())
    assert "s3cret" not in out + written


def test_what_the_user_put_beside_the_umls_stays(
    cli, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "downloads" / "umls"
    folder.mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "mine.zip").write_bytes(_zip(MRSTY="C0010200|T184|"))
    (folder / "umls-2024AB-metathesaurus-full.zip.part").write_bytes(b"begun")  # and stopped
    monkeypatch.setenv("UMLS_API_KEY", "s3cret")
    monkeypatch.setattr(place, "UTS", server.url("download"))
    server.replies = [whole(_zip(MRCONSO="C0010200|ENG|"))]
    code, _, err = cli("umls", "--release", "2024AB", "--output", "umls")
    assert (code, err) == (0, "")
    assert sorted(path.name for path in folder.iterdir()) == ["empty", "mine.zip"]


def test_umls_with_a_wrong_key(cli, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UMLS_API_KEY", "wr0ng")
    monkeypatch.setattr(place, "UTS", server.url("download"))
    server.replies = [status(401)]
    code, _, err = cli("umls", "--release", "2024AB")
    assert code == 1
    assert "a key that is right" in err
    assert "wr0ng" not in err


def test_every_corpus_has_a_source_that_says_all() -> None:
    for name in CORPORA:
        assert find_source(name).name in SOURCES
    for source in SOURCES.values():
        assert source.licence
        assert source.homepage.startswith("https://")
        assert bool(source.how) != bool(source.files)
        for remote in source.files:
            assert remote.sha256 == "" or len(bytes.fromhex(remote.sha256)) == 32
            assert all(url.startswith(("https://", "http://")) for url in remote.urls)
    assert sources.ALIASES.keys() <= CORPORA.keys()
