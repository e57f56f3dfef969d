"""Collecting: what is there is taken, what is open is downloaded, what is missing is named."""

import json
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from tests.training.conftest import Call
from tests.training.fetching.conftest import Server, cut_off, status, whole
from tests.training.fetching.conftest import server as server
from tests.training.test_download import _zip
from training import collect as command
from training.collect import COLLECTED, collect, gold_files, instructions
from training.fetching.fetch import is_offline
from training.fetching.place import Settings
from training.fetching.sources import SOURCES, Remote, Source

GOLD = '{"mention": "cough", "ids": ["HP:0012735"]}\n'


@pytest.fixture
def sources(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Two sources on a server, `one` and `two`, and `form`, which no link gives."""
    for name in ("one", "two"):
        files = (Remote((server.url(f"{name}.zip"),), "sub"),)
        monkeypatch.setitem(SOURCES, name, Source(name, "CC0", "https://example.org", files))
    by_hand = Source("form", "a licence", "https://example.org", how="its page has a form")
    monkeypatch.setitem(SOURCES, "form", by_hand)
    return server


class Run:
    """Collects into `corpora`; keeps what was said and how long it would have slept."""

    def __init__(self, corpora: Path) -> None:
        self.corpora, self.said, self.slept = corpora, list[str](), list[float]()

    def __call__(self, *names: str) -> list[str]:
        settings = Settings(sleep=self.slept.append)
        missing = collect(names, self.corpora, lambda source, output: settings, self.said.append)
        self.said += instructions(missing, self.corpora)
        return [one.name for one in missing]

    def noted(self) -> dict[str, object]:
        return json.loads((self.corpora / COLLECTED).read_text("utf8"))["sources"]


@pytest.fixture
def run_it(tmp_path: Path) -> Run:
    return Run(tmp_path / "corpora")


def test_open_sources_are_downloaded_once(sources: Server, run_it: Run) -> None:
    sources.replies = [whole(_zip(a="1")), status(503), whole(_zip(b="2"))]
    assert run_it("one", "two") == []
    assert (run_it.corpora / "one/sub/a.txt").read_text() == "1"
    assert run_it.said[0] == "one: CC0. See https://example.org"
    noted = (run_it.corpora / COLLECTED).read_bytes()
    sources.requests.clear()
    assert run_it("one", "two") == []
    assert sources.requests == [] and run_it.said[-1] == "two: in place"
    assert (run_it.corpora / COLLECTED).read_bytes() == noted


def test_one_that_fails_does_not_stop_the_others(sources: Server, run_it: Run) -> None:
    sources.replies = [status(404), whole(_zip(b="2"))]
    assert run_it("one", "form", "two") == ["one", "form"]
    assert run_it.noted().keys() == {"two"}
    text = "\n".join(run_it.said)
    assert "one is missing. [E711]" in text and "form is missing. [E713]" in text
    assert f"-> {run_it.corpora / 'downloads/one/sub/one.zip'}" in text
    # When they have come, the note is another one, and the steps that read it run again.
    sources.replies = [whole(_zip(a="1"))]
    (run_it.corpora / "downloads/form").mkdir(parents=True)
    (run_it.corpora / "downloads/form/corpus.zip").write_bytes(_zip(c="3"))
    assert run_it("one", "form", "two") == []
    assert run_it.noted().keys() == {"one", "form", "two"}
    assert (run_it.corpora / "form/c.txt").read_text() == "3"


def test_files_in_the_named_places_need_no_network(sources: Server, run_it: Run) -> None:
    place = run_it.corpora / "downloads/one/sub/one.zip"
    place.parent.mkdir(parents=True)
    place.write_bytes(_zip(a="1"))
    assert run_it("one") == []
    assert sources.requests == []
    assert (run_it.corpora / "one/sub/a.txt").read_text() == "1"
    assert "recorded in" in run_it.said[1]


def test_placed_file_that_is_damaged(
    sources: Server, run_it: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = (Remote((sources.url("one.zip"),), "", "0" * 64),)
    monkeypatch.setitem(SOURCES, "one", Source("one", "CC0", "https://example.org", files))
    place = run_it.corpora / "downloads/one/one.zip"
    place.parent.mkdir(parents=True)
    place.write_bytes(_zip(a="1"))
    assert run_it("one") == ["one"]
    assert "[E260]" in "\n".join(run_it.said) and not (run_it.corpora / "one").exists()
    place.write_bytes(b"<!doctype html><title>Sign in</title>")
    monkeypatch.setitem(SOURCES, "one", SOURCES["two"]._replace(name="one"))
    (place.parent / "sub").mkdir()
    place.rename(place.parent / "sub" / "two.zip")
    assert run_it("one") == ["one"]
    assert "[E712]" in "\n".join(run_it.said)


def test_another_file_under_the_same_address_is_refused(sources: Server, run_it: Run) -> None:
    sources.replies = [whole(_zip(a="1"))]
    assert run_it("one") == []
    for path in (run_it.corpora / "one/sub/a.txt", run_it.corpora / "downloads/one/sub/one.zip"):
        path.unlink()
    sources.replies = [whole(_zip(a="changed"))]
    assert run_it("one") == ["one"]
    assert "[E261]" in "\n".join(run_it.said)
    assert not (run_it.corpora / "one/sub/a.txt").exists()


def test_what_was_lost_of_a_download_is_put_back(sources: Server, run_it: Run) -> None:
    sources.replies = [whole(_zip(a="1"))]
    assert run_it("one") == []
    (run_it.corpora / "one/sub/a.txt").unlink()
    assert run_it("one") == []
    assert (run_it.corpora / "one/sub/a.txt").read_text() == "1"


def test_nobody_waits_long_where_there_is_no_network(sources: Server, run_it: Run) -> None:
    sources.server_close()
    assert run_it("one", "two") == ["one", "two"]
    assert len(run_it.slept) == 1
    assert "Connection refused" in "\n".join(run_it.said)


def test_connection_that_breaks_is_no_missing_network(sources: Server, run_it: Run) -> None:
    data = _zip(a="1")
    sources.replies = [cut_off(data, 9), cut_off(data, 9), whole(_zip(b="2"))]
    assert run_it("one", "two") == ["one"]
    assert not is_offline(MedlinkError("E711", "it broke"))
    # What had come is gone on with.
    sources.replies = [whole(data)]
    sources.requests.clear()
    assert run_it("one") == []
    assert [headers["Range"] for _, headers in sources.requests] == ["bytes=9-"]


def test_gold_files_of_the_user_come_first(sources: Server, run_it: Run) -> None:
    run_it.corpora.mkdir()
    for name in ("one.dev.jsonl", "my_own.train.jsonl"):
        (run_it.corpora / name).write_text(GOLD, encoding="utf8")
    assert run_it("one", "my-own") == []
    assert sources.requests == [] and run_it.noted().keys() == {"one", "my-own"}
    assert gold_files("my-own", run_it.corpora).keys() == {"train"}
    with pytest.raises(MedlinkError, match="E704"):
        run_it("nothing-of-the-kind")


def test_unpacked_by_hand(sources: Server, run_it: Run) -> None:
    (run_it.corpora / "form").mkdir(parents=True)
    (run_it.corpora / "form/a.txt").write_text("1")
    assert run_it("form") == []
    before = run_it.noted()
    (run_it.corpora / "form/a.txt").write_text("12")
    assert run_it("form") == [] and run_it.noted() != before


def test_command(
    sources: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Call
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UMLS_API_KEY", raising=False)
    code, _, err = call(command.main, "form", "umls", "--release", "")
    assert code == 0
    assert "goes on without: form, umls" in err and "UMLS_API_KEY" in err
    assert "corpora/downloads/form" in err
    code, _, err = call(command.main, "form", "--strict")
    assert code == 1 and "[E263]" in err
    # Nothing to collect is nothing wrong.
    assert call(command.main, "--release", "")[0] == 0
