"""Writing that is all or nothing: kills, errors, full disks, and several writers of one target.

Content is one letter throughout, so that a part, or a mixture, is told from a whole.
"""

import hashlib
import multiprocessing
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import build_kb
from spacy_medlink.util import beside, files
from spacy_medlink.util.files import OwnedDirectory, recover, sha256_of
from spacy_medlink.util.held import Held
from spacy_medlink.util.outputs import FILES, PRIVATE, DirectoryKind, files_in
from tests.children import SECONDS, in_child, kill_at_work, killed, python, started
from tests.limits import files_limited_to
from tests.tiny import TINY_RECORDS

TEST = DirectoryKind("a test")
SIZE = 200_000
NAMES = ["deep/three", "one", "two"]

Replacing = Callable[[Path], AbstractContextManager[Path]]


def replacing_file(path: Path) -> AbstractContextManager[Path]:
    return files.replacing_file(path, PRIVATE)


def replacing_directory(path: Path) -> AbstractContextManager[Path]:
    return files.replacing_directory(path, TEST)


BOTH = pytest.mark.parametrize("replacing", [replacing_file, replacing_directory])


def fill(path: Path, letter: str, size: int = SIZE) -> None:
    """Write one letter into a file, or into the files of a directory, piece by piece."""
    for name in NAMES if path.is_dir() else [""]:
        (path / name).parent.mkdir(exist_ok=True)
        with (path / name).open("w") as file:
            for _ in range(10):
                file.write(letter * (size // 10))
                file.flush()


def write(target: Path, letter: str, replacing: Replacing, size: int = SIZE) -> None:
    with replacing(target) as path:
        fill(path, letter, size)


def letter_of(target: Path) -> str:
    """Read what nobody writes any more: one letter, in all files."""
    names = NAMES if target.is_dir() else [""]
    assert not target.is_dir() or files_in(target) == [NAMES[0], FILES, *NAMES[1:]]
    texts = [(target / name).read_text() for name in names]
    (letter,) = {letter for text in texts for letter in text}
    assert len({len(text) for text in texts}) == 1, "a part"
    return letter


@contextmanager
def in_two_steps(wanted: bool = True) -> Iterator[None]:
    """Let the system be one that cannot exchange two directories in one step."""
    with pytest.MonkeyPatch.context() as patch:
        if wanted:
            patch.setattr(files, "_exchange", lambda first, second: False)
        yield


def names_in(path: Path) -> list[str]:
    return sorted(file.name for file in path.iterdir())


# Kills


def write_on(
    target: Path, replacing: Replacing, two_steps: bool, told: "Connection[int, int]"
) -> None:
    with in_two_steps(two_steps):
        for number in range(100_000):
            write(target, chr(97 + number % 26), replacing)
            told.send(number)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("replacing", "two_steps"),
    [(replacing_file, False), (replacing_directory, False), (replacing_directory, True)],
)
def test_whole_after_any_kill(tmp_path, replacing, two_steps):
    target, generator = tmp_path / "target", random.Random(1)
    for _ in range(6):
        kill_at_work(write_on, target, replacing, two_steps, after=generator.uniform(0, 0.06))
        recover(target)
        letter_of(target)
    write(target, "z", replacing)
    assert letter_of(target) == "z" and names_in(tmp_path) == ["target"], "leftovers stayed"


@pytest.mark.parametrize("ends", ["a kill", "an error"])
def test_an_end_between_the_two_steps_is_mended(tmp_path, monkeypatch, ends):
    target, replace = tmp_path / "target", os.replace
    write(target, "a", replacing_directory)

    def end(source: Path, destination: Path) -> None:
        if Path(destination) == target and Path(source).name == "target":
            if ends == "a kill":
                os._exit(0)
            raise KeyboardInterrupt
        replace(source, destination)

    def interrupted() -> bool:
        with in_two_steps(), monkeypatch.context() as patch:
            patch.setattr(os, "replace", end)
            write(target, "b", replacing_directory)
        return False

    if ends == "a kill":
        assert in_child(interrupted) and not target.exists()
        recover(target)
    else:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    assert letter_of(target) == "a"
    write(target, "c", replacing_directory)
    assert letter_of(target) == "c" and names_in(tmp_path) == ["target"]


def stay(target: Path, told: "Connection[int, int]") -> None:
    with replacing_file(target) as path:
        path.touch()
        path.with_name(f"{path.name}.whole").touch()
        told.send(0)
        time.sleep(SECONDS)


@pytest.mark.parametrize("name", ["target", "kb[1].sqlite", "a*b?", "with space", "é血", ".hidden"])
def test_leftovers_of_dead_writers_go_and_of_living_ones_stay(tmp_path, name):
    for own in (name, f"other{name}", f"{name}.old"):
        kill_at_work(stay, tmp_path / own, after=0)
    (tmp_path / f".{name}.abcdefgh.tmp").mkdir()  # of the user
    with replacing_file(tmp_path / name) as living, replacing_file(tmp_path / name) as path:
        path.touch()
        left = names_in(tmp_path)
        living.touch()
    assert len(left) == 5, "two of other targets, of a living writer, of the user, and a new one"
    assert len(names_in(tmp_path)) == 4 and (tmp_path / f".{name}.abcdefgh.tmp").is_dir()


def test_without_locks_nothing_is_taken_for_a_leftover(tmp_path, monkeypatch):
    target = tmp_path / "target"
    with monkeypatch.context() as without_locks:
        without_locks.setattr(beside, "try_lock", lambda *_: None)
        first_writer = replacing_file(target)
        first = first_writer.__enter__()
    fill(first, "a")
    write(target, "b", replacing_file)  # by one that can lock
    assert letter_of(first) == "a", "taken from a living writer"
    first_writer.__exit__(None, None, None)
    assert names_in(tmp_path) == ["target"] and letter_of(target) == "a"


# Errors


@BOTH
def test_a_full_disk_is_reported_and_harms_nothing(tmp_path, replacing):
    target = tmp_path / "target"
    write(target, "a", replacing)
    message = rf"^\[E109\] Could not write {target}: File too large"
    with pytest.raises(MedlinkError, match=message), files_limited_to(SIZE):
        write(target, "b", replacing, 2 * SIZE)
    assert letter_of(target) == "a" and names_in(tmp_path) == ["target"]


@BOTH
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_the_old_one_and_passes_through(tmp_path, replacing, error):
    target = tmp_path / "target"
    write(target, "a", replacing)
    with pytest.raises(error), replacing(target) as path:
        fill(path, "b")
        held = Held(path)  # a reader of what is not finished does not keep it
        raise error
    assert letter_of(target) == "a" and names_in(tmp_path) == ["target"]
    assert held.path != target


@BOTH
def test_nothing_is_seen_before_the_end(tmp_path, replacing):
    target = tmp_path / "new" / "parents" / "target"
    with replacing(target) as path:
        fill(path, "a")
        assert not target.exists()
    with replacing(target) as path:
        fill(path, "b")
        assert letter_of(target) == "a"
    assert letter_of(target) == "b" and names_in(target.parent) == ["target"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@BOTH
def test_everything_is_on_disk_before_the_swap(tmp_path, replacing, monkeypatch):
    events, sync, replace = list[str](), os.fsync, os.replace

    def synced(descriptor: int) -> None:
        events.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        sync(descriptor)

    def replaced(source: Path, destination: Path) -> None:
        events.append("swap")
        replace(source, destination)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    write(tmp_path / "target", "a", replacing)
    written = "three" if replacing is replacing_directory else "target"
    assert events.index(written) < events.index("swap") < events.index(tmp_path.name)


def test_a_link_is_replaced_and_what_it_points_at_is_not(tmp_path):
    write(tmp_path / "real", "a", replacing_directory)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write(tmp_path / "link", "b", replacing_directory)
    assert letter_of(tmp_path / "link") == "b" and letter_of(tmp_path / "real") == "a"
    assert names_in(tmp_path) == ["link", "real"]


@pytest.mark.parametrize("dots", [".", "..", "../inner"])
def test_the_working_directory_and_its_parents_are_never_replaced(tmp_path, monkeypatch, dots):
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    recover(Path(dots))
    with pytest.raises(MedlinkError, match=r"E123.*working directory"):
        replacing_directory(Path(dots)).__enter__()
    write(Path("../beside"), "a", replacing_directory)
    assert letter_of(tmp_path / "outer" / "beside") == "a"


@BOTH
def test_a_place_that_cannot_be_written(tmp_path, replacing):
    (tmp_path / "file").touch()
    for target in (tmp_path / ("x" * 300), tmp_path / "file" / "below", Path("/proc/no/such")):
        with pytest.raises(MedlinkError, match="E109"):
            write(target, "a", replacing)
    assert names_in(tmp_path) == ["file"]


# Several writers


class Reader:
    """Looks at a file all the time, and at a directory by one opening of it."""

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
                text = self.target.with_name("file").read_text()
                held = Held(self.target)
                texts = [(held.source / name).read_text() for name in NAMES]
            except FileNotFoundError:  # nothing yet, or between the two steps
                continue
            self.seen += 1
            for read in (text, "".join(texts)):
                if len(read) % SIZE or len(set(read)) != 1:
                    self.faults.append(f"{len(read)} characters of {sorted(set(read))}")


@pytest.mark.parametrize("two_steps", [False, True])
def test_writers_at_once(tmp_path, two_steps):
    """Threads, and processes with one number, as containers that share a disk have."""
    target, errors = tmp_path / "target", list[object]()

    def write_often(letter: str) -> bool:
        for _ in range(8):
            write(target.with_name("file"), letter, replacing_file)
            write(target, letter, replacing_directory)
        return True

    def noted(letter: str) -> None:
        try:
            write_often(letter)
        except BaseException as error:
            errors.append(error)

    def in_container(letter: str) -> None:
        os.getpid = lambda: 1
        write_often(letter)

    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=in_container, args=(letter,)) for letter in "ab"]
    threads = [threading.Thread(target=noted, args=(letter,)) for letter in "cd"]
    with in_two_steps(two_steps):
        for process in processes:
            process.start()
        with killed(*processes), Reader(target) as reader, started(*threads):
            for process in processes:
                process.join(SECONDS)
    assert [process.exitcode for process in processes] == [0, 0]
    assert errors == [] and reader.faults == [] and reader.seen
    assert letter_of(target) in "abcd" and letter_of(tmp_path / "file") in "abcd"
    assert names_in(tmp_path) == ["file", "target"]


@pytest.mark.parametrize("two_steps", [False, True])
def test_the_last_to_finish_stays(tmp_path, two_steps):
    target = tmp_path / "target"
    with in_two_steps(two_steps), replacing_directory(target) as slow:
        fill(slow, "a")
        write(target, "b", replacing_directory)
        assert letter_of(target) == "b"
    assert letter_of(target) == "a"


def test_who_recovers_beside_a_living_writer_does_not_disturb(tmp_path, monkeypatch):
    target, replace, found = tmp_path / "target", os.replace, list[bool]()
    write(target, "a", replacing_directory)

    def between(source: Path, destination: Path) -> None:
        if Path(destination) == target:
            recover(target)  # as a reader does who comes between the two steps
            found.append(target.exists())
        replace(source, destination)

    with in_two_steps():
        monkeypatch.setattr(os, "replace", between)
        write(target, "b", replacing_directory)
    assert found == [False] and letter_of(target) == "b"


@pytest.mark.parametrize("two_steps", [False, True])
def test_what_a_reader_holds_stays_until_it_ends(tmp_path, two_steps):
    target = tmp_path / "target"
    with in_two_steps(two_steps):
        write(target, "a", replacing_directory)
        held = Held(target)
        for letter in "bc":
            write(target, letter, replacing_directory)
            assert letter_of(held.source) == "a" and letter_of(target) == letter
        assert held.place is not None and letter_of(held.place) == "a"
        (target / "gone").mkdir()
        recover(target)
        del held
    assert names_in(tmp_path) == ["target"]


def test_builds_of_the_same_assets_at_once(tmp_path):
    """What is there in the end is of one build, by checksum, and no build has failed."""
    errors = list[str]()

    def build(kb: Path) -> None:
        for _ in range(3):
            try:
                build_assets(tmp_path / "assets", kb)
            except MedlinkError as error:
                errors.append(str(error))

    kbs = [tmp_path / "first.kb", tmp_path / "second.kb"]
    for kb, records in zip(kbs, (TINY_RECORDS, TINY_RECORDS[:5]), strict=True):
        build_kb(kb, records)
    with started(*(threading.Thread(target=build, args=(kb,)) for kb in kbs)):
        pass
    assert errors == []
    assets = Assets(tmp_path / "assets", verify=True)
    assert len(assets.kb) in (12, 5) and assets.manifest["kb"] == assets.kb.manifest
    assert names_in(tmp_path) == ["assets", "first.kb", "second.kb"]


# Parts


@pytest.mark.parametrize("size", [0, 1, (1 << 20) + 1])
def test_sha256(tmp_path, size):
    content = bytes(range(256)) * (size // 256 + 1)
    (tmp_path / "file").write_bytes(content[:size])
    assert sha256_of(tmp_path / "file") == hashlib.sha256(content[:size]).hexdigest()


def test_a_held_file_is_linked_or_copied(tmp_path, monkeypatch):
    source, link = tmp_path / "source", tmp_path / "link"
    source.write_text("content")
    link.symlink_to(source)
    for held, name in ((Held(link), ""), (Held(tmp_path), "link")):
        held.put(tmp_path / "linked", name)
        assert (tmp_path / "linked").samefile(source) and not (tmp_path / "linked").is_symlink()
        (tmp_path / "linked").unlink()
    held = Held(source)
    source.unlink()
    held.put(tmp_path / "copied")  # there is no name to link
    assert (tmp_path / "copied").read_text() == "content"

    def refused(*_: object, **__: object) -> None:
        raise OSError("other device")

    monkeypatch.setattr(os, "link", refused)
    Held(tmp_path / "copied").put(tmp_path / "again")
    assert (tmp_path / "again").read_text() == "content"
    assert not (tmp_path / "again").samefile(tmp_path / "copied")


def test_an_owned_directory_goes_with_its_owner():
    owner = OwnedDirectory("spacy-medlink-test-")
    path = owner.path
    (path / "file").touch()
    del owner
    assert not path.exists()


@pytest.mark.parametrize(
    ("made", "place"),
    [
        ("OwnedDirectory('spacy-medlink-test-')", "owner.path"),
        ("stack.enter_context(working_directory(Path(sys.argv[1])))", "owner"),
    ],
)
def test_a_directory_goes_at_the_end_of_the_process_but_not_of_a_child(tmp_path, made, place):
    code = (
        "import os, sys\n"
        "from contextlib import ExitStack\n"
        "from pathlib import Path\n"
        "from spacy_medlink.util.files import OwnedDirectory, working_directory\n"
        "with ExitStack() as stack:\n"
        f"    owner = {made}\n"
        "    if not os.fork():\n"
        "        sys.exit()  # unwinds the block, as a worker that fails would\n"
        "    os.wait()\n"
        f"    print({place}.exists())\n"
    )
    own = {**os.environ, "TMPDIR": str(tmp_path)}
    done = python("-W", "error", "-c", code, tmp_path / "target", env=own)
    assert (done.stdout, done.stderr) == ("True\n", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_an_owned_directory_goes_at_the_end_of_a_worker(tmp_path, method):
    process = multiprocessing.get_context(method).Process(target=_own, args=(tmp_path,))
    process.start()
    with killed(process):
        process.join(SECONDS)
    assert process.exitcode == 0 and names_in(tmp_path) == ["made"]


def _own(place: Path) -> None:
    tempfile.tempdir = str(place)
    _kept.append(OwnedDirectory("spacy-medlink-test-"))
    (place / "made").touch()


_kept: list[OwnedDirectory] = []  # until the worker ends
