"""The files that FHIR comes in: JSON, XML, a directory of them, or a package (`.tgz`).

XML is turned into JSON, each element on the line where it stands, so that everything else reads one
form, and messages name the right lines.
"""

import json
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack
from io import BufferedIOBase
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import cast

from ..errors import Errors
from ..kb.readers.lines import DAMAGED, most_of, open_source
from ..kb.readers.xml_records import BoundedXml

PACKAGE = "package.json"  # what describes a package
_BLOCK = 1 << 16
_SUFFIXES = (".json", ".json.gz", ".xml", ".xml.gz")
# Elements that JSON has in lists, of the resources that are read; and values that are no strings.
_LISTS = frozenset(
    "additionalUse coding concept contained contains dependsOn designation element entry exclude"
    " extension filter group include product property target valueSet".split()
)
_NO_STRINGS = frozenset(("abstract", "inactive", "noMap", "total", "valueBoolean"))
_WRAPPERS = frozenset(("contained", "resource"))  # elements whose one child is a resource


def is_package(path: Path) -> bool:
    """Tell whether a source has several resources, each in a file."""
    return path.is_dir() or path.name.lower().endswith((".tgz", ".tar.gz"))


def is_fhir(path: Path) -> bool:
    """Tell whether a source is JSON, XML or a package, and no table."""
    if is_package(path):
        return True
    with open_source(path) as file:
        # Both kinds of opened file can peek; their common type does not say so.
        start = file.peek(64).removeprefix(b"\xef\xbb\xbf").lstrip()  # type: ignore[attr-defined]
    return bool(start.startswith((b"{", b"[", b"<")))


def documents(path: Path) -> Iterator[tuple[Path, BufferedIOBase]]:
    """Stream (path for messages, its JSON) of a file, or of the files of a directory or package.

    RAISES (MedlinkError): E105 for XML that is not well-formed, E160 without files, E165 for an
        archive that cannot be read, or unpacks to too much data.
    """
    if not is_package(path):
        yield path, _as_json(path, open_source(path))
    elif path.is_dir():
        files = sorted((path / "package" if (path / "package").is_dir() else path).iterdir())
        if not (files := [file for file in files if _is_resource(file.name)]):
            expected = "a directory or package with resources in JSON or XML"
            problem = "it has no such file"
            raise Errors.wrong_file(path=path, what="FHIR", problem=problem, expected=expected)
        for file in files:
            yield file, _as_json(file, open_source(file))
    else:
        try:
            yield from _members(path)
        except (tarfile.TarError, OSError, *DAMAGED) as error:
            raise Errors.source_unreadable(path=path, reason=error) from error


def _is_resource(name: str) -> bool:
    return name.lower().endswith(_SUFFIXES) and not name.startswith(".")


def _members(path: Path) -> Iterator[tuple[Path, BufferedIOBase]]:
    left = most_of(path.stat().st_size)
    with tarfile.open(path) as archive:
        for member in archive:
            name = PurePosixPath(member.name)
            left -= member.size
            if left < 0:
                raise Errors.source_unreadable(path=path, reason="it unpacks to too much data")
            file = archive.extractfile(member) if member.isfile() else None
            # Below other directories are examples, and what is made of the resources.
            if file is not None and name.parent.name == "package" and _is_resource(name.name):
                shown = path / name
                yield shown, _as_json(shown, cast(BufferedIOBase, file))


def _as_json(path: Path, file: BufferedIOBase) -> BufferedIOBase:
    """Return a file that is JSON, or what it says as JSON."""
    start = file.peek(64)  # type: ignore[attr-defined]  # a buffered file, plain or gzip
    if not start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        return file
    with file, ExitStack() as on_error:
        temporary = TemporaryFile()  # noqa: SIM115 who reads it closes it
        converted = on_error.enter_context(cast(BufferedIOBase, temporary))
        _Converter(path, converted).convert(file)
        on_error.pop_all()
    converted.seek(0)
    return converted


class _Element:
    """An open element: the name of the list that is open in it, and what ends it."""

    def __init__(self, end: str = "", is_wrapper: bool = False) -> None:
        self.list, self.end, self.is_wrapper, self.is_empty = "", end, is_wrapper, True


class _Converter(BoundedXml):
    """Writes the events of expat as JSON."""

    def __init__(self, path: Path, output: BufferedIOBase) -> None:
        super().__init__(path)
        self._output, self._line, self._skipped = output, 1, 0
        self._open = [_Element(is_wrapper=True)]
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self.refuse_entities()

    def convert(self, file: BufferedIOBase) -> None:
        """Convert a whole file."""
        data = b" "
        while data:
            try:
                data = file.read(_BLOCK)
            except DAMAGED as error:
                self.fail(f"damaged gzip data ({error})", error=error)
            self.feed(data)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        above = self._open[-1]
        if self._skipped or tag == "div":  # the narrative
            self._skipped += 1
        elif above.is_wrapper:
            above.is_empty = False
            self._write(f'{{"resourceType":{json.dumps(tag)}')
            self._open.append(_Element("}"))
            self._open[-1].is_empty = False
        elif "value" in attributes:
            self._key(above, tag)
            value = attributes["value"]
            is_plain = tag in _NO_STRINGS and (value in ("true", "false") or value.isdecimal())
            self._write(value if is_plain else json.dumps(value))
            self._skipped = 1  # extensions of a value
        else:
            self._key(above, tag)
            is_wrapper = tag in _WRAPPERS
            self._write("" if is_wrapper else "{")
            self._open.append(_Element("" if is_wrapper else "}", is_wrapper))
            if "url" in attributes:
                self._key(self._open[-1], "url")
                self._write(json.dumps(attributes["url"]))

    def _end(self, _: str) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        element = self._open.pop()
        self._write("null" if element.is_wrapper and element.is_empty else "")
        self._write(("]" if element.list else "") + element.end)

    def _key(self, above: _Element, tag: str) -> None:
        """Write the name of an element, unless it continues the list that is open."""
        if above.list == tag:
            self._write(",")
            return
        self._write("]" if above.list else "")
        self._write("" if above.is_empty else ",")
        above.list, above.is_empty = tag if tag in _LISTS else "", False
        self._write(f"{json.dumps(tag)}:{'[' if above.list else ''}")

    def _write(self, text: str) -> None:
        line = self._expat.CurrentLineNumber
        self._output.write(b"\n" * (line - self._line) + text.encode())
        self._line = line
