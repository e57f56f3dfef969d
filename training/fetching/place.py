"""Put a source into a directory, completely or not at all, with a manifest of its files.

The downloaded files are beside it in `downloads/NAME`. This module, `spacy project assets` or the
user puts them there.
"""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from spacy_medlink.errors import Errors, MedlinkError
from spacy_medlink.types import Progress
from spacy_medlink.util.files import replacing_directory, sha256_of
from spacy_medlink.util.outputs import DirectoryKind, check_output, files_in, read_json
from spacy_medlink.util.progress import no_progress

from .fetch import TRIES, Sleep, Wanted, fetch, is_page, target_name
from .sources import Remote, Source
from .trust import RECORD, Trust
from .unpack import unpack

MANIFEST, DOWNLOADS = "download.json", "downloads"
UTS = "https://uts-ws.nlm.nih.gov/download"  # hands out files to those who have a key
Tell = Callable[[str], None]


class Settings(NamedTuple):
    """How to download.

    release (str): for sources with several. key (str): the user's, for the server.
    overwrite (bool): lose other files in an earlier download. tries (int): for each file.
    """

    release: str = ""
    key: str = ""
    progress: Progress = no_progress
    sleep: Sleep = time.sleep
    overwrite: bool = False
    tries: int = TRIES


class _Got(NamedTuple):
    """A received file, its place, and its identity. `fetched` tells whether this call got it."""

    path: Path
    remote: Remote
    name: str
    origin: str
    sha256: str
    fetched: bool = False


def download(source: Source, output: Path, settings: Settings, tell: Tell) -> None:
    """Download all files of a source and unpack them; existing files are not downloaded again.

    RAISES (MedlinkError): E711, E712, E717 for a file, E260-E262 for its checksum, E713 when it is
        behind a form, E714 for an archive, E715 and E716 for keys and releases, E718 when the
        output is something else, E121 when it holds more.
    """
    _check_output(source, output, (), settings.overwrite)
    folder = output.parent / DOWNLOADS / source.name
    by_hand = placed(source, output)
    if by_hand:
        take(source, by_hand, output, tell, settings.overwrite)
        return
    if source.how:
        raise Errors.behind_form(
            name=source.name, how=source.how, homepage=source.homepage, folder=folder
        )
    got = []
    for remote in source.files:
        found = _one(source, remote, folder, settings)
        _tell_checksum(source, found, output, tell)
        got.append(found)
    _assemble(source, got, output, settings.overwrite)
    if source.key:  # saves gigabytes: licensed releases need not be stored twice
        _clear(folder, [each.path for each in got if each.fetched])


def placed(source: Source, output: Path) -> list[Path]:
    """List the files in `downloads/NAME` of a source that the user must download."""
    if not (source.how or source.key):
        return []
    folder = output.parent / DOWNLOADS / source.name
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    begun = any(path.name.endswith((".part", ".part.json")) for path in files)
    return [] if begun else files


def where(source: Source, output: Path) -> list[tuple[str, Path]]:
    """List the addresses of a source's files, and where the user can put them."""
    folder = output.parent / DOWNLOADS / source.name
    return [
        (each.urls[0], folder / each.place / target_name(each.urls[0])) for each in source.files
    ]


def take(
    source: Source, files: Sequence[Path], output: Path, tell: Tell, overwrite: bool = False
) -> None:
    """Unpack files that the user downloaded, as `download` does.

    overwrite (bool): replace an earlier download even if it holds other files.
    RAISES (MedlinkError): E107 no such file, E712 a saved web page, E714, E717, E718, E121, E122,
        E261 and E262 for an unpublished checksum.
    """
    _check_output(source, output, files, overwrite)
    known = {target_name(url): each for each in source.files for url in each.urls}
    got = []
    for path in files:
        if not path.is_file():
            raise Errors.source_missing(path=path)
        _check_no_page(source, path)
        remote, digest = known.get(path.name, Remote(())), sha256_of(path)
        if remote.sha256 and remote.sha256 != digest:
            raise Errors.download_checksum(url=path, found=digest, expected=remote.sha256)
        found = _Got(path, remote, path.name, path.name, digest)
        _tell_checksum(source, found, output, tell)
        got.append(found)
    _assemble(source, got, output, overwrite)


def _one(source: Source, remote: Remote, folder: Path, settings: Settings) -> _Got:
    """Use an existing file, or download it from the first address that works."""
    query = {}
    urls = [url.format(release=settings.release) for url in remote.urls]
    if source.key:
        query = {"url": urls[0], "apiKey": settings.key}
    for url in urls:
        target = folder / remote.place / target_name(url)
        if target.is_file():
            return _there(source, remote, target, url)
    for place, url in enumerate(urls):
        target = folder / remote.place / target_name(url)
        wanted = Wanted(UTS if source.key else url, source.homepage, remote.sha256, query)
        try:
            digest = fetch(wanted, target, settings.progress, settings.sleep, settings.tries)
        except MedlinkError:
            if place == len(urls) - 1:
                raise
            continue
        return _Got(target, remote, target.name, url, digest, fetched=True)
    raise AssertionError("a file without an address")


def _there(source: Source, remote: Remote, path: Path, origin: str) -> _Got:
    """Check an existing file from an earlier try, `spacy project assets` or the user.

    RAISES (MedlinkError): E260 if its checksum is not the published one, E712 for a web page.
    """
    digest = sha256_of(path)
    if remote.sha256 and digest != remote.sha256:
        raise Errors.placed_checksum(path=path, found=digest, expected=remote.sha256)
    _check_no_page(source, path)
    return _Got(path, remote, path.name, origin, digest)


def _check_no_page(source: Source, path: Path) -> None:
    with path.open("rb") as file:
        if is_page(file.read(1024)):
            raise Errors.download_is_page(url=path, homepage=source.homepage)


def _assemble(source: Source, got: Sequence[_Got], output: Path, overwrite: bool) -> None:
    files = [
        {"origin": each.origin, "sha256": each.sha256, "bytes": each.path.stat().st_size}
        for each in got
    ]
    about: dict[str, Any] = {
        "name": source.name,
        "licence": source.licence,
        "homepage": source.homepage,
        "files": files,
    }
    with replacing_directory(output, _kind(source), overwrite=overwrite) as directory:
        for each in got:
            unpack(each.path, directory / each.remote.place, each.name)
        about["unpacked"] = files_in(directory)
        text = json.dumps(about, indent=2, ensure_ascii=False) + "\n"
        (directory / MANIFEST).write_text(text, encoding="utf-8")


def _kind(source: Source) -> DirectoryKind:
    """Describe a download; a download by an older version surely has only its manifest."""

    def files_of(path: Path) -> list[str] | None:
        about = read_json(path / MANIFEST)
        if not isinstance(about, dict) or about.get("name") != source.name:
            return None
        return [*about.get("unpacked", ()), MANIFEST]

    return DirectoryKind(f"a download of {source.name}", files_of)


def _check_output(source: Source, output: Path, inputs: Sequence[Path], overwrite: bool) -> None:
    """Refuse to replace anything but an earlier download of the same source.

    RAISES (MedlinkError): E718, and E121-E123 as `outputs.check_output` does.
    """
    try:
        check_output(output, _kind(source), inputs, overwrite=overwrite)
    except MedlinkError as error:
        if error.code != Errors.output_is_foreign.code:
            raise
        raise Errors.not_a_download(path=output) from error


def _tell_checksum(source: Source, got: _Got, output: Path, tell: Tell) -> None:
    """Tell the user what is known about a file's checksum.

    RAISES (MedlinkError): E261 when the first download was another file, E262 for a damaged record.
    """
    if got.remote.sha256:
        known = "as expected"
    else:
        key = "/".join(filter(None, (source.name, got.remote.place, got.name)))
        record = output.parent / DOWNLOADS / RECORD
        known = Trust(record).check(key, got.path, got.sha256)
    tell(f"{got.name}: sha256 {got.sha256} ({known})")


def _clear(folder: Path, got: Sequence[Path]) -> None:
    """Delete downloaded files, and their directories if these are empty then."""
    for path in got:
        path.unlink()
        for place in path.parents:
            if not place.is_relative_to(folder) or any(place.iterdir()):
                break
            place.rmdir()
