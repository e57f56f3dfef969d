"""Checks what a writer may replace: only earlier output of the same kind, never an input.

Every writer names the kind of its output. A kind recognises a file, or the files of a directory,
that it wrote before. All other files belong to the user, and stay.
"""

import filecmp
import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import Errors
from .beside import MARK, only_one

FILES = "medlink_files.json"  # lists the files of a directory that has no manifest of its own
_FORMAT = "spacy-medlink files"
_JUNK = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})  # file managers leave these
_BEGINNING = 4096  # bytes in which a mark must stand
_SHOWN = 3
_LONGEST = 504  # bytes of a path that SQLite opens: 512 with that of a journal
_BESIDE = len(f".{MARK}12345678.tmp/")  # bytes that `beside` adds to a path, but for the name

PathLike = str | Path


@dataclass(frozen=True)
class FileKind:
    """A file that a verb writes.

    name (str): the kind, for messages. is_ours (Optional[Callable]): tells by the content whether
        a file is of this kind; None if the content cannot tell: then only equal bytes are replaced.
    database (Optional[str]): what is added to the path for the database in it, None without one.
    """

    name: str
    is_ours: Callable[[Path], bool] | None = None
    database: str | None = None


@dataclass(frozen=True)
class DirectoryKind:
    """A directory that a verb writes.

    name (str): the kind, for messages. files_of (Optional[Callable]): lists the files of this kind
        in a directory, relative to it; None for a directory of another kind. Without `files_of`,
        the list that `seal` writes is used.
    is_edited (bool): whether people edit the files; a file that has changed is theirs.
    database (Optional[str]): as for `FileKind`.
    """

    name: str
    files_of: Callable[[Path], Collection[str] | None] | None = None
    is_edited: bool = False
    database: str | None = None

    def own_files(self, path: Path) -> Collection[str] | None:
        """List the files that this kind wrote into a directory, None in that of something else."""
        if self.files_of is not None:
            return self.files_of(path)
        listed = read_json(path / FILES)
        is_list = isinstance(listed, dict) and listed.get("format") == _FORMAT
        if not (is_list and listed.get("kind") == self.name and listed.get("files")):
            return None
        sums = listed.get("sha256") or {}
        # A file that has changed since is somebody's own, where people edit such files.
        kept = (
            name
            for name in listed["files"]
            if name not in sums or not (path / name).is_file() or _sum_of(path / name) == sums[name]
        )
        return [*kept, FILES]

    def seal(self, path: Path) -> None:
        """Write the list of files into a finished directory, if nothing else there has it."""
        if self.files_of is None:
            files = files_in(path)
            listed: dict[str, object] = {"format": _FORMAT, "kind": self.name, "files": files}
            if self.is_edited:
                listed["sha256"] = {name: _sum_of(path / name) for name in files}
            (path / FILES).write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")


def _sum_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def marked(name: str, mark: str) -> FileKind:
    """Describe files that carry a mark in their first 4 KB."""

    def is_ours(path: Path) -> bool:
        with path.open("rb") as file:
            return mark.encode() in file.read(_BEGINNING)

    return FileKind(name, is_ours)


def companion(name: str, of: FileKind, path: Path) -> FileKind:
    """Describe files that are always written together with another file, which identifies them."""
    is_ours = of.is_ours
    return FileKind(name, lambda _: is_ours is not None and path.is_file() and is_ours(path))


PRIVATE = FileKind("a file in a directory of our own", lambda path: True)


def check_output(
    path: PathLike,
    kind: FileKind | DirectoryKind,
    inputs: Iterable[PathLike | None] = (),
    *,
    improves: PathLike | None = None,
    overwrite: bool = False,
    new: Path | None = None,
) -> None:
    """Raise an error if a path holds files of the user.

    inputs (Iterable[Optional[Path]]): files that the same call reads; missing files are ignored.
    improves (Optional[Path]): an input that the output may replace as its next version.
    overwrite (bool): replace a file of another kind, or lose other files within a directory of this
        kind, but never an input. new (Optional[Path]): the new content, where it is known.
    RAISES (MedlinkError): E120-E124; E109 without the permission to look, and for a path too long
        for the database in it.
    """
    path = Path(path)
    if kind.database is not None:
        _check_length(path, kind.database)
    given = [Path(each) for each in inputs if each is not None and os.path.lexists(each)]
    whole = isinstance(kind, DirectoryKind)
    olds = [] if improves is None or _is_same(path, Path(improves)) else [Path(improves)]
    try:
        for input_path in (*given, *olds):
            if _is_same(path, input_path) or (whole and _is_inside(input_path, path)):
                raise Errors.output_is_input(path=path, input=input_path)
        if isinstance(kind, DirectoryKind):
            _check_place(path)
        if not os.path.lexists(path):
            return
        holds_it = any(each.is_dir() and _is_inside(path, each) for each in given)
        may_lose = overwrite and not holds_it
        if isinstance(kind, DirectoryKind):
            with only_one(path.parent):  # no other writer replaces it while we look
                _check_directory(path, kind, may_lose)
        else:
            _check_file(path, kind, may_lose, new)
    except OSError as error:
        raise Errors.write_failed(path=path, reason=error.strerror or error) from error


def _check_length(path: Path, database: str) -> None:
    real = Path(os.path.realpath(path.parent), path.name)
    size = len(os.fsencode(real)) + len(os.fsencode(path.name)) + _BESIDE + len(database)
    if size > _LONGEST:
        reason = f"that of a temporary file has {size} bytes, and SQLite opens up to {_LONGEST}"
        raise Errors.write_failed(path=path, reason=f"the path is too long ({reason})")


def files_in(path: Path) -> list[str]:
    """List all files, links and whatever else is no directory, relative to a directory.

    RAISES (OSError): where nobody may look.
    """

    def fail(error: OSError) -> None:
        raise error

    paths = []
    for directory, directories, names in os.walk(path, onerror=fail):
        links = [name for name in directories if Path(directory, name).is_symlink()]
        paths += [Path(directory, name).relative_to(path).as_posix() for name in (*names, *links)]
    return sorted(paths)


def read_json(path: Path) -> Any:
    """Read a JSON file; None for anything else."""
    with suppress(OSError, ValueError, RecursionError):
        if path.is_file():
            return json.loads(path.read_text(encoding="utf-8"))
    return None


def _check_place(path: Path) -> None:
    """RAISES (MedlinkError): E123 for a directory that nobody means to replace."""
    real = resolved(path)
    for what, find in (("the working directory", Path.cwd), ("the home directory", Path.home)):
        with suppress(OSError, RuntimeError):
            protected = resolved(find())
            if protected.is_relative_to(real):
                above = "" if protected == real else "a parent of "
                raise Errors.output_is_protected(path=path, what=f"{above}{what}")


def _check_directory(path: Path, kind: DirectoryKind, may_lose: bool) -> None:
    if not os.path.lexists(path):  # another writer has just moved it away
        return
    if not path.is_dir():
        raise Errors.output_is_foreign(path=path, kind=kind.name, found=_what(path))
    there = files_in(path)
    if not there:
        return
    own_files = kind.own_files(path)
    if own_files is None:
        raise Errors.output_is_foreign(path=path, kind=kind.name, found=_some(there))
    ours = frozenset(own_files) | _JUNK
    more = [name for name in there if name not in ours]
    if more and not may_lose:
        raise Errors.output_has_more(path=path, kind=kind.name, found=_some(more))


def _check_file(path: Path, kind: FileKind, may_lose: bool, new: Path | None) -> None:
    if not path.is_file():
        raise Errors.output_is_foreign(path=path, kind=kind.name, found=_what(path))
    size = path.stat().st_size
    if not size or may_lose:
        return
    with suppress(OSError, ValueError, RecursionError):
        if kind.is_ours is not None and kind.is_ours(path):
            return
    if new is None:
        if kind.is_ours is None:  # decided when the new content is there
            return
    elif filecmp.cmp(path, new, shallow=False):
        return
    raise Errors.output_file_exists(path=path, kind=kind.name, size=f"{size:,}")


def resolved(path: Path) -> Path:
    """Follow all links of a path; one that leads to itself stays, where `resolve` would raise."""
    return Path(os.path.realpath(path))


def _is_same(first: Path, second: Path) -> bool:
    """Tell whether two paths lead to one file, by links of any kind."""
    if first.exists() and second.exists():
        return first.samefile(second)
    return resolved(first) == resolved(second)


def _is_inside(inner: Path, outer: Path) -> bool:
    """Tell whether a path, or what it leads to, lies in a directory."""
    real, link = resolved(outer), resolved(inner.parent) / inner.name
    is_inside = resolved(inner).is_relative_to(real) or link.is_relative_to(real)
    return os.path.lexists(inner) and is_inside


def _what(path: Path) -> str:
    if path.is_symlink() and not path.exists():
        return f"a link to {path.readlink()}, which does not exist"
    if path.is_dir():
        return f"a directory with {_some(files_in(path)) or 'nothing in it'}"
    return "a file" if path.is_file() else "no ordinary file"


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {more:,} more" if more > 0 else shown
