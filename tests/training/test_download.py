"""The verb: sources on a real server, what it puts in place, and its exit codes."""

import io
import json
import shutil
import zipfile
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.errors import MedlinkError
from tests.training.fetching.conftest import server as server
from tests.training.fetching.conftest import status, whole
from training import download
from training.corpora.layout import gold_files
from training.corpora.registry import CORPORA
from training.fetching import place
from training.fetching.sources import ALIASES, Remote, Source, find_source, sources

GOLD = '{"mention": "cough", "ids": ["HP:0012735"]}\n'
PAGE = "https://example.org"


def zipped(**members: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in members.items():
            # Without a given time, the clock's is written: two archives of the same would differ.
            archive.writestr(zipfile.ZipInfo(f"{name}.txt"), text)
    return buffer.getvalue()


@pytest.fixture
def cli(call, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UMLS_API_KEY", raising=False)
    return partial(call, download.main)


@pytest.fixture
def local(server, monkeypatch):
    """Sources: `one` of two files, the second with checksum and mirror; `two`; `form`, by hand."""
    second = zipped(b="2")
    files = (
        Remote((server.url("a.zip"),)),
        Remote((server.url("gone.zip"), server.url("b.zip")), "sub", sha256(second).hexdigest()),
    )
    every = [
        Source("one", "CC0, says the test", PAGE, files),
        Source("two", "CC0", PAGE, (Remote((server.url("two.zip"),), "sub"),)),
        Source("form", "a licence", PAGE, how="its page has a form"),
    ]
    for source in every:
        monkeypatch.setitem(sources(), source.name, source)
    server.replies = [whole(zipped(a="1")), status(404), whole(second)]
    return server


def _noted(tmp_path: Path) -> dict[str, Any]:
    return json.loads((tmp_path / "corpora" / download.COLLECTED).read_text("utf8"))["sources"]


def test_files_are_unpacked_and_noted_once(cli, local, tmp_path):
    code, out, err = cli("one")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "one: CC0, says the test. See https://example.org"
    assert "none is known to compare it with" in out and "as expected" in out
    here = tmp_path / "corpora"
    assert (here / "one/a.txt").read_text() == "1" and (here / "one/sub/b.txt").read_text() == "2"
    about = json.loads((here / "one/download.json").read_text())
    assert [file["origin"].rpartition("/")[2] for file in about["files"]] == ["a.zip", "b.zip"]
    noted = (here / download.COLLECTED).read_bytes()
    local.requests.clear()
    assert cli("one")[1] == "one: in place\n"
    assert local.requests == [] and (here / download.COLLECTED).read_bytes() == noted
    # What is lost or changed comes back, from the files that had come.
    (here / "one/a.txt").unlink()
    assert cli("one")[0] == 0
    (here / "one/a.txt").write_text("changed")
    assert cli("one", "--overwrite")[0] == 0
    assert (here / "one/a.txt").read_text() == "1" and local.requests == []


def test_a_failure_keeps_what_had_come(cli, local, tmp_path):
    local.replies[1:] = [status(404), status(404)]
    code, out, err = cli("one")
    assert (code, err[:6]) == (1, "[E711]") and out.startswith("one: CC0, says the test.")
    assert not (tmp_path / "corpora/one").exists()
    local.requests.clear()
    local.replies = [status(404), whole(zipped(b="2"))]
    assert cli("one")[0] == 0
    assert local.requests == ["/gone.zip", "/b.zip"]


def test_one_that_fails_does_not_stop_the_others(cli, local, tmp_path):
    local.replies = [status(404), whole(zipped(b="2"))]
    code, _, err = cli("one", "form", "umls", "two", "--if-any")
    assert code == 0 and _noted(tmp_path).keys() == {"two"}
    for said in ("one is missing. [E711]", "form is missing. [E713]", "UMLS_API_KEY"):
        assert said in err
    assert "continues without: one, form, umls" in err
    assert f"-> {Path('corpora/downloads/one/a.zip')}" in err
    # When they have come, the note is another one, and the steps that read it run again.
    by_hand = tmp_path / "corpora/downloads/form"
    by_hand.mkdir(parents=True)
    (by_hand / "corpus.zip").write_bytes(zipped(c="3"))
    assert cli("form", "two", "--if-any")[2] == ""
    assert _noted(tmp_path).keys() == {"form", "two"}
    assert (tmp_path / "corpora/form/c.txt").read_text() == "3"
    assert cli("--release", "")[0] == 0, "nothing to collect is nothing wrong"


def test_files_in_the_named_places_need_no_network(cli, local, tmp_path):
    put = tmp_path / "corpora/downloads/two/sub/two.zip"
    put.parent.mkdir(parents=True)
    put.write_bytes(zipped(a="1"))
    code, out, _ = cli("two")
    assert code == 0 and "none is known to compare it with" in out and local.requests == []
    put.write_bytes(zipped(a="changed"))
    err = cli("two", "--overwrite")[2]
    assert err.startswith("[E261]") and sha256(put.read_bytes()).hexdigest() in err
    assert (tmp_path / "corpora/two/sub/a.txt").read_text() == "1"
    manifest = tmp_path / "corpora/two/download.json"
    put.write_bytes(zipped(a="1"))
    assert "as it first came" in cli("two", "--overwrite")[1]
    # Who trusts another file deletes the directory, as the message says.
    put.write_bytes(zipped(a="changed"))
    shutil.rmtree(manifest.parent)
    assert "none is known" in cli("two")[1] and cli("two")[1] == "two: in place\n"
    # Whoever has the manifest alone gets what its writer got, or is told.
    (manifest.parent / "sub/a.txt").unlink()
    put.write_bytes(zipped(a="1"))
    assert cli("two")[2].startswith("[E261]")
    # A manifest that says nothing makes the directory another one.
    manifest.write_text("{", encoding="utf8")
    assert cli("two", "--file", str(put))[2].startswith("[E12")
    shutil.rmtree(manifest.parent)
    put.write_bytes(b"<!doctype html><title>Sign in</title>")
    assert cli("two", "--overwrite")[2].startswith("[E712]")
    damaged = tmp_path / "corpora/downloads/one/sub/b.zip"
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(zipped(b="another"))
    assert cli("one")[2].startswith("[E211]")


def test_gold_files_of_the_user_come_first(cli, local, tmp_path):
    corpora = tmp_path / "corpora"
    corpora.mkdir()
    for name in ("one.dev.jsonl", "my_own.train.jsonl"):
        (corpora / name).write_text(GOLD, encoding="utf8")
    assert cli("one", "my-own")[0] == 0
    assert local.requests == [] and _noted(tmp_path).keys() == {"one", "my-own"}
    assert gold_files("my-own", corpora).keys() == {"train"}
    code, _, err = cli("medmention", "--if-any")
    assert (code, err[:6]) == (1, "[E108]") and "medmentions-st21pv" in err


def test_unpacked_by_hand(cli, local, tmp_path):
    (tmp_path / "corpora/form").mkdir(parents=True)
    (tmp_path / "corpora/form/a.txt").write_text("1")
    assert cli("form")[0] == 0
    before = _noted(tmp_path)
    (tmp_path / "corpora/form/a.txt").write_text("12")
    assert cli("form")[0] == 0 and _noted(tmp_path) != before
    assert cli("form", "--file", "corpora/form/a.txt")[2].startswith("[E12")
    assert (tmp_path / "corpora/form/a.txt").read_text() == "12"


def test_behind_a_form(cli, tmp_path):
    code, out, err = cli("mcn")
    assert (code, err[:6]) == (1, "[E713]")
    assert "data use agreement" in out and "--file" in err
    (tmp_path / "mcn.zip").write_text("<!DOCTYPE html><title>Sign in</title>")
    assert cli("mcn", "--file", "mcn.zip")[2].startswith("[E712]")
    assert cli("mcn", "--file", "none.zip")[2].startswith("[E107]")
    (tmp_path / "mcn.zip").write_bytes(zipped(note="x"))
    code, out, _ = cli("mcn", "--file", "mcn.zip")
    assert code == 0 and sha256((tmp_path / "mcn.zip").read_bytes()).hexdigest() in out
    assert (tmp_path / "corpora/mcn/note.txt").read_text() == "x"
    (tmp_path / "NCBItestset_corpus.zip").write_bytes(zipped(a="not it"))
    assert cli("ncbi-disease", "--file", "NCBItestset_corpus.zip")[2].startswith("[E211]")


def test_umls(cli, server, tmp_path, monkeypatch):
    assert cli("umls", "--release", "2024AB")[2].startswith("[E715]")
    monkeypatch.setenv("UMLS_API_KEY", "s3cret")
    assert cli("umls")[2].startswith("[E715]")
    monkeypatch.setattr(place, "UTS", server.url("download"))
    server.replies = [status(401)]
    err = cli("umls", "--release", "2024AB")[2]
    assert "a key that is right" in err and "s3cret" not in err
    server.replies = [whole(zipped(MRCONSO="C0010200|ENG|"))]
    code, out, err = cli("umls", "--release", "2024AB")
    assert (code, err) == (0, "")
    assert server.requests[-1].endswith("umls-2024AB-metathesaurus-full.zip&apiKey=s3cret")
    corpora = tmp_path / "corpora"
    written = "".join(p.read_text() for p in corpora.rglob("*") if p.is_file())
    assert "s3cret" not in out + written and "C0010200" in written
    assert not list((corpora / "downloads/umls").iterdir()), "gigabytes are not stored twice"
    # Releases that the user put there are taken without a key, and stay.
    (corpora / "downloads/umls/mine.zip").write_bytes(zipped(MRSTY="C0010200|T184|"))
    monkeypatch.delenv("UMLS_API_KEY")
    assert cli("umls", "--overwrite")[0] == 0
    assert (corpora / "umls/MRSTY.txt").is_file()
    assert (corpora / "downloads/umls/mine.zip").is_file()


def test_every_corpus_has_a_source_that_says_all():
    for name in CORPORA:
        assert find_source(name).name in sources()
    for source in sources().values():
        assert source.licence
        assert source.homepage.startswith("https://")
        assert bool(source.how) != bool(source.files)
        for remote in source.files:
            assert remote.sha256 == "" or len(bytes.fromhex(remote.sha256)) == 32
            assert all(url.startswith(("https://", "http://")) for url in remote.urls)
    assert ALIASES.keys() <= CORPORA.keys()
    with pytest.raises(MedlinkError, match="E108"):
        find_source("medmention")
