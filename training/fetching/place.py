"""Put a source into a directory, completely or not at all, with a manifest of its files.

The downloaded files are beside it in `downloads/NAME`. This module, `spacy project assets` or the
user puts them there.
"""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from spacy_medlink.errors import Errors, MedlinkError
from spacy_medlink.util.files import replacing_directory
from spacy_medlink.util.outputs import DirectoryKind, check_output, files_in, read_json

from .fetch import check_file, fetch, target_name
from .sources import Remote, Source
from .unpack import unpack

MANIFEST, DOWNLOADS = "download.json", "downloads"
UTS = "https://uts-ws.nlm.nih.gov/download"  # hands out files to those who have a key
Tell = Callable[[str], None]


class _File(NamedTuple):
    """A file that has come, and where from. fetched (bool): by this call."""

    path: Path
    remote: Remote
    origin: str
    sha256: str
    fetched: bool = False


def place(
    source: Source, output: Path, tell: Tell, files: Sequence[Path] = (), release: str = "",
    overwrite: bool = False,
) -> None:  # fmt: skip
    """Unpack the files of a source, of which only those that are not there are downloaded.

    files (Sequence[Path]): take these, got by hand. release (str): for sources with several.
    overwrite (bool): lose other files in an earlier download.
    RAISES (MedlinkError): E107 no such file, E711, E712, E211, E261, E160 for a file, E713 when it
        is behind a form, E714 for an archive, E715 without key or release, E120-E123.
    """
    check_output(output, _kind(source), files, overwrite=overwrite)
    folder = downloads(source, output)
    given = list(files) or _by_hand(source, folder)
    if source.how and not given:
        raise Errors.behind_form(
            name=source.name, how=source.how, homepage=source.homepage, folder=folder
        )
    come = [_given(source, path) for path in given]
    come = come or [_come(source, remote, folder, release) for remote in source.files]
    first = _checksums(source, output)
    for file in come:
        tell(f"{file.path.name}: sha256 {file.sha256} ({_compared(file, first, output)})")
    _assemble(source, come, output, overwrite)
    if source.key:  # saves gigabytes: licensed releases need not be stored twice
        for file in come:
            if file.fetched:
                file.path.unlink()


def _compared(file: _File, first: Mapping[str, str], output: Path) -> str:
    """Compare a file without a published checksum with its first download.

    RETURNS (str): what is known of the checksum. RAISES (MedlinkError): E261 when it differs.
    """
    if file.remote.sha256:
        return "as expected"
    checksum = first.get(file.origin)
    if checksum is None:
        return f"none is known to compare it with: {MANIFEST} notes it for the next time"
    if checksum != file.sha256:
        raise Errors.first_checksum(
            path=file.path, found=file.sha256, expected=checksum, directory=output
        )
    return "as it first came"


def _manifest(source: Source, directory: Path) -> dict[str, Any]:
    """Read what a download of a source wrote about itself; empty for any other directory."""
    about = read_json(directory / MANIFEST)
    return about if isinstance(about, dict) and about.get("name") == source.name else {}


def _checksums(source: Source, directory: Path) -> dict[str, str]:
    files = _manifest(source, directory).get("files", ())
    return {file["origin"]: file["sha256"] for file in files if isinstance(file, dict)}


def downloads(source: Source, output: Path) -> Path:
    """Name the directory of a source's files as they come."""
    return output.parent / DOWNLOADS / source.name


def where(source: Source, output: Path) -> list[tuple[str, Path]]:
    """List the addresses of a source's files, and where the user can put them."""
    folder = downloads(source, output)
    return [
        (each.urls[0], folder / each.place / target_name(each.urls[0])) for each in source.files
    ]


def is_placed(source: Source, output: Path) -> bool:
    """Tell whether a source is there: a download with all its files, or one unpacked by hand."""
    if about := _manifest(source, output):
        return all((output / name).is_file() for name in about.get("unpacked", ()))
    return output.is_dir() and any(output.iterdir())


def _by_hand(source: Source, folder: Path) -> list[Path]:
    """List the files of a source that the user must download."""
    if not (source.how or source.key):
        return []
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [path for path in paths if not path.relative_to(folder).parts[0].startswith(".")]


def _given(source: Source, path: Path) -> _File:
    if not path.is_file():
        raise Errors.source_missing(path=path)
    remotes = {target_name(url): each for each in source.files for url in each.urls}
    remote = remotes.get(path.name, Remote(()))
    return _File(path, remote, path.name, check_file(path, path, source.homepage, remote.sha256))


def _come(source: Source, remote: Remote, folder: Path, release: str) -> _File:
    """Use an existing file, or download it from the first address that works."""
    urls = [url.format(release=release) for url in remote.urls]
    targets = [folder / remote.place / target_name(url) for url in urls]
    for url, target in zip(urls, targets, strict=True):
        if target.is_file():
            digest = check_file(target, target, source.homepage, remote.sha256)
            return _File(target, remote, url, digest)
    query = {"url": urls[0], "apiKey": _key(source, release)} if source.key else None
    for url, target in zip(urls, targets, strict=True):
        try:
            asked = UTS if query else url
            digest = fetch(asked, target, source.homepage, remote.sha256, query)
            return _File(target, remote, url, digest, fetched=True)
        except MedlinkError:
            if url == urls[-1]:
                raise
    raise AssertionError("a file without an address")


def _key(source: Source, release: str) -> str:
    key = os.environ.get(source.key, "").strip()
    if not key or not re.fullmatch(r"\d{4}A[AB]", release):
        raise Errors.no_api_key(name=source.name, variable=source.key)
    return key


def _assemble(source: Source, come: Sequence[_File], output: Path, overwrite: bool) -> None:
    files = [
        {"origin": file.origin, "sha256": file.sha256, "bytes": file.path.stat().st_size}
        for file in come
    ]
    with replacing_directory(output, _kind(source), overwrite=overwrite) as directory:
        for file in come:
            unpack(file.path, directory / file.remote.place)
        about = {
            "name": source.name, "licence": source.licence, "homepage": source.homepage,
            "files": files, "unpacked": files_in(directory),
        }  # fmt: skip
        text = json.dumps(about, indent=2, ensure_ascii=False) + "\n"
        (directory / MANIFEST).write_text(text, encoding="utf-8")


def _kind(source: Source) -> DirectoryKind:
    def files_of(path: Path) -> list[str] | None:
        about = _manifest(source, path)
        return [*about.get("unpacked", ()), MANIFEST] if about else None

    return DirectoryKind(f"a download of {source.name}", files_of)
