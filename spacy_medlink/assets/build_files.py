"""Opens the directory of one build of assets, while another build may replace it."""

import glob
import hashlib
import os
import stat
import time
from collections.abc import Iterable
from pathlib import Path

from ..errors import Errors, MedlinkError
from ..types import Data, Facts
from ..util.beside import find_old
from ..util.files import recover
from ..util.held import Held
from ..util.outputs import resolved
from .facts import parse_manifest
from .manifest import MANIFEST

_LARGEST = 1 << 26  # bytes of a manifest; that of 15 million names takes 6 KB
_TRIES, _PAUSE = 50, 0.02  # attempts, and seconds between them, while a directory is replaced

States = list[tuple[int, int, int]]
"""Inode, size and time of change of each file: those of a file that was changed are others."""


def open_build(path: Path) -> tuple[Held, Data, str, States]:
    """Open one build of an assets directory.

    RETURNS (Tuple[Held, Dict, str, List]): the directory; the content of its manifest; the
        SHA-256 of that, which identifies a build; the state of its files.
    RAISES (MedlinkError): E201 no directory; E202 a damaged manifest, or files that are missing, of
        another size or outside the directory; E103 another schema.
    """
    path = path.resolve() if path.name in ("", "..") else path.absolute()
    for _ in range(_TRIES):
        recover(path)
        place = path if os.path.lexists(path) else find_old(path) or path
        if place.exists() and not place.is_dir():
            break
        try:
            held = Held(place)
            with held.reading() as directory:
                return held, *_read(directory)
        except MedlinkError:
            if held.is_at(place):  # else it was replaced before we held it
                raise
        except FileNotFoundError as error:
            if not any(path.parent.glob(f".{glob.escape(path.name)}.*")):
                raise Errors.assets_missing(path=path) from error
            time.sleep(_PAUSE)  # another writer is between the two steps of a swap
        except OSError as error:
            raise Errors.assets_incomplete(path=path, problem=_reason(error)) from error
    raise Errors.assets_missing(path=path)


def states_of(directory: Path, names: Iterable[str]) -> States:
    """Get the state of each file.

    RAISES (MedlinkError): E202 for a file that is missing, or no ordinary file.
    """
    states = []
    for name in names:
        try:
            state = (directory / name).stat()
        except OSError as error:
            is_missing = isinstance(error, FileNotFoundError | NotADirectoryError)
            problem = "is missing" if is_missing else f"cannot be read: {_reason(error)}"
            raise Errors.assets_incomplete(path=directory, problem=f"{name} {problem}") from error
        if not stat.S_ISREG(state.st_mode):
            raise Errors.assets_incomplete(path=directory, problem=f"{name} is no ordinary file")
        states.append((state.st_ino, state.st_size, state.st_mtime_ns))
    return states


def _read(directory: Path) -> tuple[Data, str, States]:
    (own,) = states_of(directory, [MANIFEST])
    if own[1] > _LARGEST:
        raise Errors.assets_incomplete(path=directory, problem=f"{MANIFEST} has {own[1]} bytes")
    text = (directory / MANIFEST).read_bytes()
    manifest = parse_manifest(directory, text)
    files = manifest["files"]
    _check_links(directory, files)
    states = states_of(directory, files)
    for (name, expected), (_, size, _) in zip(files.items(), states, strict=True):
        if size != expected["size"]:
            problem = f"{name} has {size} bytes, expected {expected['size']}"
            raise Errors.assets_incomplete(path=directory, problem=problem)
    return manifest, hashlib.sha256(text).hexdigest(), states


def _check_links(directory: Path, files: Facts) -> None:
    """Refuse symbolic links that lead out of the directory."""
    real = resolved(directory)
    for name in files:
        if not resolved(real / name).is_relative_to(real):
            problem = f"{name} points outside the directory"
            raise Errors.assets_incomplete(path=directory, problem=problem)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
