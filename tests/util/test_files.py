"""Writing that is all or nothing, with real kills and a real limit on the size of files."""

import hashlib
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.util import beside, files
from spacy_medlink.util.files import OwnedDirectory, recover, sha256_of
from spacy_medlink.util.held import HeldFile
from spacy_medlink.util.outputs import FILES, PRIVATE, DirectoryKind
from tests.children import SECONDS, end_after, killed, status_of

TEST = DirectoryKind("a test")

KILLS = 6


def replacing_file(path):
    return files.replacing_file(path, PRIVATE)


def replacing_directory(path):
    return files.replacing_directory(path, TEST)


# Content n is one letter throughout, so that a part, or a mixture, is told from a whole.
WRITER = """
import sys
from pathlib import Path
from spacy_medlink.util import files
from spacy_medlink.util.outputs import PRIVATE, DirectoryKind
if {two_steps}:
    files._exchange = lambda first, second: False  # as on a system that has no such call
target = Path({target!r})
for number in range(100_000):
    content = chr(97 + number % 26).encode() * 200_000
    if {directory}:
        with files.replacing_directory(target, DirectoryKind("a test")) as path:
            for name in ("one", "two", "deep/three"):
                (path / name).parent.mkdir(exist_ok=True)
                (path / name).write_bytes(content)
    else:
        with files.replacing_file(target, PRIVATE) as path, path.open("wb") as file:
            for start in range(0, len(content), 20_000):
                file.write(content[start:start + 20_000])
                file.flush()
    print(number, flush=True)
"""


def kill_at_random(code: str, generator: random.Random) -> None:
    """Start the code, wait until it has printed something, and kill it some time later."""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    with killed(process):
        assert process.stdout is not None and process.stdout.readline() != b""
        time.sleep(generator.uniform(0, 0.06))
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def whole(path: Path) -> bytes:
    content = path.read_bytes()
    assert len(content) == 200_000
    assert len(set(content)) == 1, "a mixture of two contents"
    return content


def whole_directory(path: Path) -> None:
    found = sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
    assert found == ["deep/three", FILES, "one", "two"]
    assert len({whole(path / name) for name in found if name != FILES}) == 1, "files of two builds"


@pytest.mark.slow
def test_a_file_is_whole_after_any_kill(tmp_path):
    target = tmp_path / "target.bin"
    code = WRITER.format(target=str(target), directory=False, two_steps=False)
    generator = random.Random(1)
    for _ in range(KILLS):
        kill_at_random(code, generator)
        whole(target)
    with replacing_file(target) as path:
        path.write_bytes(b"new")
    assert [file.name for file in tmp_path.iterdir()] == ["target.bin"], "leftovers stayed"


@pytest.mark.slow
@pytest.mark.parametrize("two_steps", [False, True])
def test_a_directory_is_whole_after_any_kill(tmp_path, two_steps):
    target = tmp_path / "target"
    code = WRITER.format(target=str(target), directory=True, two_steps=two_steps)
    generator = random.Random(2)
    for _ in range(KILLS):
        kill_at_random(code, generator)
        recover(target)
        whole_directory(target)
    with replacing_directory(target) as path:
        (path / "new").write_bytes(b"new")
    assert {file.name for file in target.iterdir()} == {"new", FILES}
    assert [file.name for file in tmp_path.iterdir()] == ["target"], "leftovers stayed"


def swapped_in_two_steps(tmp_path, monkeypatch):
    """Make a directory where the system cannot swap two in one step."""
    monkeypatch.setattr(files, "_exchange", lambda first, second: False)
    target = tmp_path / "target"
    with replacing_directory(target) as path:
        (path / "old").touch()
    return target


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_kill_between_the_two_steps_is_mended(tmp_path, monkeypatch):
    target = swapped_in_two_steps(tmp_path, monkeypatch)
    replace = os.replace

    def kill(source, destination):
        if Path(destination) == target:
            os.kill(os.getpid(), signal.SIGKILL)
        replace(source, destination)

    child = os.fork()
    if not child:
        end_after(SECONDS)
        try:
            os.replace = kill
            with replacing_directory(target) as path:
                (path / "new").touch()
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(status_of(child)) == -signal.SIGKILL
    assert not target.exists()
    recover(target)
    assert {file.name for file in target.iterdir()} == {"old", FILES}
    with replacing_directory(target) as path:
        (path / "newer").touch()
    assert {file.name for file in target.iterdir()} == {"newer", FILES}
    assert [file.name for file in tmp_path.iterdir()] == ["target"]


def test_an_interruption_between_the_two_steps_is_mended(tmp_path, monkeypatch):
    target = swapped_in_two_steps(tmp_path, monkeypatch)
    replace = os.replace

    def interrupted(source, destination):
        if Path(destination) == target and Path(source).name == "target":
            raise KeyboardInterrupt
        replace(source, destination)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), replacing_directory(target) as path:
        (path / "new").touch()
    assert {file.name for file in target.iterdir()} == {"old", FILES}
    assert [file.name for file in tmp_path.iterdir()] == ["target"]


FULL = """
import resource, sys
from pathlib import Path
from spacy_medlink.errors import MedlinkError
from spacy_medlink.util.files import replacing_directory, replacing_file
from spacy_medlink.util.outputs import PRIVATE, DirectoryKind
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
target = Path(sys.argv[1])
try:
    if target.is_dir():
        with replacing_directory(target, DirectoryKind("a test")) as path:
            (path / "small").write_bytes(b"x" * 1000)
            (path / "large").write_bytes(b"x" * 100_000)
    else:
        with replacing_file(target, PRIVATE) as path:
            path.write_bytes(b"x" * 100_000)
except MedlinkError as error:
    print(error)
"""


@pytest.mark.parametrize("directory", [False, True])
def test_a_full_disk_is_reported_and_harms_nothing(tmp_path, directory):
    target = tmp_path / "target"
    with (replacing_directory if directory else replacing_file)(target) as path:
        if directory:
            (path / "old").write_text("old")
        else:
            path.write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(target)], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.startswith(f"[E109] Could not write {target}: File too large"), done
    assert (target / "old" if directory else target).read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["target"]


@pytest.mark.parametrize("replacing", [replacing_file, replacing_directory])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_the_old_one_and_passes_through(tmp_path, replacing, error):
    target = tmp_path / "target"
    with replacing(target) as path:
        _fill(path, "old")
    with pytest.raises(error), replacing(target) as path:
        _fill(path, "new")
        raise error
    assert _content(target) == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["target"]


@pytest.mark.parametrize("replacing", [replacing_file, replacing_directory])
def test_nothing_is_seen_before_the_end(tmp_path, replacing):
    target = tmp_path / "new" / "parents" / "target"
    with replacing(target) as path:
        _fill(path, "1")
        assert not target.exists()
    assert _content(target) == "1"
    with replacing(target) as path:
        _fill(path, "2")
        assert _content(target) == "1"
    assert _content(target) == "2"
    assert [file.name for file in target.parent.iterdir()] == ["target"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("replacing", [replacing_file, replacing_directory])
def test_everything_is_on_disk_before_the_swap(tmp_path, replacing, monkeypatch):
    events = []
    sync, replace = os.fsync, os.replace

    def synced(descriptor):
        events.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        sync(descriptor)

    def replaced(source, destination):
        events.append("swap")
        replace(source, destination)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    with replacing(tmp_path / "target") as path:
        _fill(path, "new")
        written = "content" if path.is_dir() else path.name
    assert events.index(written) < events.index("swap") < events.index(tmp_path.name)


LEAVE = """
import os, sys, time
from pathlib import Path
from spacy_medlink.util.files import replacing_file
from spacy_medlink.util.outputs import PRIVATE
with replacing_file(Path(sys.argv[1]), PRIVATE) as path:
    path.touch()
    path.with_name(path.name + ".whole").touch()
    print("there", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no locks there")
@pytest.mark.parametrize("name", ["target", "kb[1].sqlite", "a*b?", "with space", "é血", ".hidden"])
def test_leftovers_of_dead_writers_go_and_of_living_ones_stay(tmp_path, name):
    writers = [
        subprocess.Popen([sys.executable, "-c", LEAVE, str(tmp_path / own)], stdout=subprocess.PIPE)
        for own in (name, name, f"other{name}", f"{name}.old")
    ]
    with killed(*writers):
        for writer in writers:
            assert writer.stdout is not None and writer.stdout.readline() == b"there\n"
        for writer in writers[1:]:
            writer.kill()
            writer.communicate()
        (tmp_path / f".{name}.abcdefgh.tmp").mkdir()
        (tmp_path / f".{name}.abcdefgh.tmp" / "of the user").touch()
        assert len(list(tmp_path.iterdir())) == 5
        with replacing_file(tmp_path / name) as path:
            path.touch()
        left = {file.name for file in tmp_path.iterdir()}
        ours = [
            own
            for own in left
            if own.startswith(f".{name}.") and own.count(".") == name.count(".") + 3
        ]
        assert len(left) == 5, "of another target, of a living writer, of the user"
        assert f".{name}.abcdefgh.tmp" in left and name in left and len(ours) == 2
    writers[0].communicate()
    with replacing_file(tmp_path / name) as path:
        path.touch()
    assert len(list(tmp_path.iterdir())) == 4


def test_without_locks_nothing_is_taken_for_a_leftover(tmp_path, monkeypatch):
    target = tmp_path / "target"
    with monkeypatch.context() as without_locks:
        without_locks.setattr(beside, "try_lock", lambda file: None)
        first_writer = replacing_file(target)
        first = first_writer.__enter__()
    first.write_text("first")
    with replacing_file(target) as second:  # by one that can lock
        second.write_text("second")
    assert first.read_text() == "first", "taken from a living writer"
    first_writer.__exit__(None, None, None)
    assert [file.name for file in tmp_path.iterdir()] == ["target"]
    assert target.read_text() == "first"


def test_a_forked_child_that_ends_takes_nothing_from_its_parent(tmp_path):
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from spacy_medlink.util.files import working_directory\n"
        "with working_directory(Path(sys.argv[1])) as place:\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        sys.exit()  # unwinds the block, as a worker that fails would\n"
        "    os.waitpid(child, 0)\n"
        "    (place / 'file').touch()\n"
        "print('whole')\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "target")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout == "whole\n", done
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_replaced_and_what_it_points_at_is_not(tmp_path):
    with replacing_directory(tmp_path / "real") as path:
        (path / "old").touch()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with replacing_directory(tmp_path / "link") as path:
        (path / "new").touch()
    assert {file.name for file in (tmp_path / "link").iterdir()} == {"new", FILES}
    assert {file.name for file in (tmp_path / "real").iterdir()} == {"old", FILES}
    assert {file.name for file in tmp_path.iterdir()} == {"real", "link"}


@pytest.mark.parametrize("dots", [".", "..", "../inner"])
def test_the_working_directory_and_its_parents_are_never_replaced(tmp_path, monkeypatch, dots):
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    recover(Path(dots))
    with pytest.raises(MedlinkError, match=r"E123.*working directory"):
        replacing_directory(Path(dots)).__enter__()
    with replacing_directory(Path("../beside")) as path:
        (path / "new").touch()
    assert (tmp_path / "outer" / "beside" / "new").is_file()


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    for target in (tmp_path / ("x" * 300), tmp_path / "file" / "below", Path("/proc/no/such")):
        for replacing in (replacing_file, replacing_directory):
            with pytest.raises(MedlinkError, match="E109"), replacing(target) as path:
                _fill(path, "new")
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1])
def test_sha256(tmp_path, size):
    content = bytes(range(256)) * (size // 256 + 1)
    (tmp_path / "file").write_bytes(content[:size])
    assert sha256_of(tmp_path / "file") == hashlib.sha256(content[:size]).hexdigest()


def test_a_held_file_is_linked_or_copied(tmp_path, monkeypatch):
    source = tmp_path / "source"
    source.write_text("content")
    (tmp_path / "link").symlink_to(source)
    HeldFile(tmp_path / "link").put(tmp_path / "linked")
    assert (tmp_path / "linked").samefile(source)
    assert not (tmp_path / "linked").is_symlink()

    def refused(*_):
        raise OSError("other device")

    monkeypatch.setattr(os, "link", refused)
    HeldFile(source).put(tmp_path / "copied")
    assert (tmp_path / "copied").read_text() == "content"
    assert not (tmp_path / "copied").samefile(source)


def test_an_owned_directory_goes_with_its_owner():
    owner = OwnedDirectory("spacy-medlink-test-")
    path = owner.path
    (path / "file").touch()
    del owner
    assert not path.exists()


def test_an_owned_directory_goes_at_the_end_of_the_process_but_not_of_a_child(tmp_path):
    code = (
        "import os, sys\n"
        "from spacy_medlink.util.files import OwnedDirectory\n"
        "owner = OwnedDirectory('spacy-medlink-test-')\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    sys.exit()\n"
        "os.waitpid(child, 0)\n"
        "print(owner.path, owner.path.exists())\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True, text=True, timeout=60, env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert done.stdout.endswith(" True\n"), done
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_an_owned_directory_goes_at_the_end_of_a_worker(tmp_path, method):
    context = multiprocessing.get_context(method)
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_own, args=(tmp_path, theirs), daemon=True)
    process.start()
    with killed(process), ours:
        assert ours.poll(SECONDS)
        place, is_there = ours.recv()
        assert place.parent == tmp_path and is_there
        process.join(SECONDS)
    assert process.exitcode == 0
    assert list(tmp_path.iterdir()) == []


def _own(place: Path, made: Connection) -> None:
    tempfile.tempdir = str(place)
    _kept.append(OwnedDirectory("spacy-medlink-test-"))
    made.send((_kept[0].path, _kept[0].path.is_dir()))


_kept: list[OwnedDirectory] = []  # until the worker ends


def _fill(path: Path, content: str) -> None:
    (path / "content" if path.is_dir() else path).write_text(content)


def _content(path: Path) -> str:
    return (path / "content" if path.is_dir() else path).read_text()
