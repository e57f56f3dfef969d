"""Opens the files of one build of assets, while another build may replace it."""

import glob
import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path

from ..errors import Errors
from ..types import Data, Facts
from ..util.beside import find_old
from ..util.files import recover
from ..util.held import HeldFile, HeldFiles, is_same_directory, opened
from .facts import parse_manifest
from .manifest import MANIFEST

_LARGEST = 1 << 26  # bytes of a manifest; that of 15 million names takes 6 KB
_TRIES, _PAUSE = 50, 0.02  # attempts, and seconds between them, while a directory is replaced


class _ReplacedError(Exception):
    """Another build replaced the build that was being opened."""


def open_build(path: Path) -> tuple[HeldFiles, Data, str]:
    """Open all files of one build of an assets directory.

    RETURNS (Tuple[HeldFiles, Dict, str]): the files, with the manifest; its content; and its
        SHA-256, which identifies a build.
    RAISES (MedlinkError): E201 no directory; E202 a damaged manifest, or files that are missing, of
        another size or outside the directory; E103 another schema.
    """
    missing = 0
    while missing < _TRIES:
        try:
            directory = _standing(path)
            with opened(directory) as within:
                return _open(path, directory, within)
        except _ReplacedError:
            continue  # ends, because every turn needs a new build
        except (FileNotFoundError, NotADirectoryError):
            missing += 1
        except OSError as error:
            raise Errors.assets_incomplete(path=path, problem=_reason(error)) from error
    raise Errors.assets_missing(path=path)


def _standing(path: Path) -> Path:
    """Find the directory; if a swap in two steps was interrupted, the old one beside it.

    RAISES (FileNotFoundError): between the two steps of a swap that is under way.
    """
    path = path.resolve() if path.name in ("", "..") else path.absolute()
    if path.is_dir():
        return path
    with suppress(OSError):  # if it cannot be moved back, the old one is read where it is
        recover(path)
    for directory in (path, find_old(path)):
        if directory is not None and directory.is_dir():
            return directory
    if path.exists() or not any(path.parent.glob(f".{glob.escape(path.name)}.*")):
        raise Errors.assets_missing(path=path)
    time.sleep(_PAUSE)
    raise FileNotFoundError(path)


def _open(path: Path, directory: Path, within: int | None) -> tuple[HeldFiles, Data, str]:
    manifest_file = _held(path, directory, MANIFEST, within)
    if manifest_file.size > _LARGEST:
        raise Errors.assets_incomplete(
            path=path, problem=f"{MANIFEST} has {manifest_file.size} bytes"
        )
    text = manifest_file.read()
    manifest = parse_manifest(path, text)
    _check_links(path, directory, manifest["files"])
    files = {MANIFEST: manifest_file}
    for name, expected in manifest["files"].items():
        files[name] = _held(path, directory, name, within)
        if files[name].size != expected["size"]:
            problem = f"{name} has {files[name].size} bytes, expected {expected['size']}"
            raise Errors.assets_incomplete(path=path, problem=problem)
    if within is None and not manifest_file.is_in_place():
        raise _ReplacedError
    return HeldFiles(path, files), manifest, hashlib.sha256(text).hexdigest()


def _held(path: Path, directory: Path, name: str, within: int | None) -> HeldFile:
    try:
        return HeldFile(directory / name, within, name)
    except OSError as error:
        if not is_same_directory(directory, within):
            raise _ReplacedError from error
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        problem = "is missing" if missing else f"cannot be read: {_reason(error)}"
        if missing and name == MANIFEST:
            raise Errors.assets_incomplete(path=path, problem=f"no {MANIFEST}") from error
        raise Errors.assets_incomplete(path=path, problem=f"{name} {problem}") from error


def _check_links(path: Path, directory: Path, files: Facts) -> None:
    """Refuse symbolic links that lead out of the directory."""
    inside = {directory / name for name in files}
    inside |= {parent for file in inside for parent in file.parents if directory in parent.parents}
    for file in inside:
        if file.is_symlink() and not _real(file).is_relative_to(_real(directory)):
            problem = f"{file.relative_to(directory)} leads out of the directory"
            raise Errors.assets_incomplete(path=path, problem=problem)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))  # unlike `resolve`, it accepts links in a circle


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
