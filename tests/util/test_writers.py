"""Several writers of one target: processes, threads, and "containers" that share a process number.

Each writer has a letter of its own: a mixture is told from a whole, and what readers see at every
moment is whole.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import build_kb
from spacy_medlink.util import files
from spacy_medlink.util.files import recover, replacing_directory, replacing_file
from spacy_medlink.util.outputs import FILES, PRIVATE, DirectoryKind, files_in
from tests.children import SECONDS, killed, started
from tests.tiny import TINY_RECORDS

TEST = DirectoryKind("a test")
ROUNDS = 12
WRITER = """
import os, sys
from pathlib import Path
from spacy_medlink.util import files
from spacy_medlink.util.outputs import PRIVATE, DirectoryKind
os.getpid = lambda: 1  # as in each of several containers
target, letter, rounds, two_steps = sys.argv[1:]
if two_steps == "True":
    files._exchange = lambda first, second: False
sys.stdin.readline()
for _ in range(int(rounds)):
    with files.replacing_file(Path(target + ".file"), PRIVATE) as path, path.open("w") as file:
        for _ in range(20):
            file.write(letter * 1000)
            file.flush()
    with files.replacing_directory(Path(target), DirectoryKind("a test")) as path:
        for number in range(8):
            (path / str(number)).write_text(letter)
"""


def write(target: Path, letter: str) -> None:
    for _ in range(ROUNDS):
        file_path = target.with_name("target.file")
        with replacing_file(file_path, PRIVATE) as path, path.open("w") as file:
            for _ in range(20):
                file.write(letter * 1000)
                file.flush()
        with replacing_directory(target, TEST) as path:
            for number in range(8):
                (path / str(number)).write_text(letter)


def whole(target: Path) -> str:
    """Read a directory that nobody writes any more; one letter, in all files."""
    assert files_in(target) == [*map(str, range(8)), FILES]
    (letter,) = {(target / str(number)).read_text() for number in range(8)}
    return letter


class Reader:
    """Looks at the file all the time, and at the directory by one opening of it."""

    def __init__(self, target: Path) -> None:
        self.target, self.faults, self.seen, self._done = target, list[str](), 0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Reader":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join(SECONDS)

    def _look(self) -> None:
        while not self._done.is_set():
            try:
                text = self.target.with_name("target.file").read_text()
            except FileNotFoundError:
                continue
            self.seen += 1
            if len(text) != 20_000 or len(set(text)) != 1:
                self.faults.append(f"{len(text)} characters of {sorted(set(text))}")
            self._look_into_directory()

    def _look_into_directory(self) -> None:
        try:
            opened = os.open(self.target, os.O_RDONLY)
        except FileNotFoundError:
            return
        try:
            names = os.listdir(opened)  # noqa: PTH208  # of this one, whatever takes its place
        finally:
            os.close(opened)
        # Of the one that was just replaced, some or all may be removed already; a new one is whole.
        if set(names) - {*map(str, range(8)), FILES}:
            self.faults.append(f"{names}")


@pytest.fixture(params=[False, True], ids=["exchanged", "two steps"])
def two_steps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the system cannot exchange two directories in one step."""
    if request.param:
        monkeypatch.setattr(files, "_exchange", lambda first, second: False)
    elif not sys.platform.startswith("linux"):
        pytest.skip("no such call here")
    return bool(request.param)


def test_threads(tmp_path: Path, two_steps: bool) -> None:
    target, errors = tmp_path / "target", list[BaseException]()

    def safely(letter: str) -> None:
        try:
            write(target, letter)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=safely, args=(letter,)) for letter in "abc"]
    with Reader(target) as reader, started(*threads):
        pass
    assert errors == [] and reader.faults == [] and reader.seen
    assert whole(target) in "abc"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["target", "target.file"]


def test_processes_with_one_number(tmp_path: Path, two_steps: bool) -> None:
    target = tmp_path / "target"
    arguments = [sys.executable, "-c", WRITER, str(target)]
    writers = [
        subprocess.Popen(
            [*arguments, letter, str(ROUNDS), str(two_steps)],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for letter in "abc"
    ]  # fmt: skip
    with Reader(target) as reader, killed(*writers):
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write("\n")
            writer.stdin.flush()
        said = [writer.communicate(timeout=SECONDS)[1] for writer in writers]
    assert said == ["", "", ""] and reader.faults == [] and reader.seen
    assert whole(target) in "abc"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["target", "target.file"]


def test_the_last_to_finish_stays(tmp_path: Path, two_steps: bool) -> None:
    target = tmp_path / "target"
    with replacing_directory(target, TEST) as slow:
        (slow / "slow").touch()
        with replacing_directory(target, TEST) as fast:
            (fast / "fast").touch()
        assert files_in(target) == ["fast", FILES]
    assert files_in(target) == [FILES, "slow"]


def test_who_recovers_beside_a_living_writer_does_not_disturb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_exchange", lambda first, second: False)
    target, replace, found = tmp_path / "target", os.replace, list[bool]()
    with replacing_directory(target, TEST) as path:
        (path / "old").touch()

    def between(source: Path, destination: Path) -> None:
        if Path(destination) == target:
            recover(target)  # as a reader does who comes between the two steps
            found.append(target.exists())
        replace(source, destination)

    monkeypatch.setattr(os, "replace", between)
    with replacing_directory(target, TEST) as path:
        (path / "new").touch()
    assert found == [False] and files_in(target) == [FILES, "new"]


def test_builds_of_the_same_assets_at_once(tmp_path: Path) -> None:
    """What is there in the end is of one build, by checksum, and no build has failed."""
    kbs = [tmp_path / "first.kb", tmp_path / "second.kb"]
    for kb, records in zip(kbs, (TINY_RECORDS, TINY_RECORDS[:5]), strict=True):
        build_kb(kb, records)
    errors: list[str] = []

    def build(kb: Path) -> None:
        for _ in range(3):
            try:
                build_assets(tmp_path / "assets", kb)
            except MedlinkError as error:
                # The one that another swaps away at the very moment when it is opened.
                errors.extend([str(error)] if error.code not in {"E201", "E202"} else [])

    run_together([lambda kb=kb: build(kb) for kb in kbs])
    assert errors == []
    assets = Assets(tmp_path / "assets", verify=True)
    assert len(assets.kb) in (12, 5)
    assert json.loads((assets.path / "manifest.json").read_text())["kb"] == assets.kb.manifest
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"first.kb", "second.kb", "assets"}


def run_together(works: "list[Callable[[], None]]") -> None:
    with started(*(threading.Thread(target=work) for work in works)):
        pass
