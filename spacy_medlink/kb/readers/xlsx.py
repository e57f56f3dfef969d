"""Reads the cells' values from the sheets of a workbook (.xlsx), a zip of XML files."""

import re
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree.ElementTree import Element
from zipfile import BadZipFile, ZipFile

from ...errors import Errors
from .lines import most_of
from .rows import Row
from .xml_records import xml_records

_LARGEST = 1 << 30  # bytes of one part, unpacked: far more than any table made by people
_NEAR = 256  # columns whose gaps are filled: one stray cell would make 18,278 of each row
_BOOK, _LINKS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
_STRINGS = "xl/sharedStrings.xml"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_DAMAGED = (BadZipFile, OSError, zlib.error, EOFError, NotImplementedError, RuntimeError)


def read_sheets(path: Path) -> Iterator[tuple[str, Iterator[Row]]]:
    """Stream (name, rows) of the sheets; a row is its number and its cells, gaps filled with "".

    The rows of a sheet must be read before the next sheet is taken.

    RAISES (MedlinkError): E165 when it is not a workbook, E105 for bad XML in it, E154 for
        entities.
    """
    with _reporting(path), ZipFile(path) as book, TemporaryDirectory() as directory:
        parts = _Parts(book, Path(directory), path)
        strings = [_text(record) for record in parts.elements(_STRINGS, "si")]
        targets = {
            link.get("Id", ""): link.get("Target", "")
            for link in parts.elements(_LINKS, "Relationship")
        }
        for sheet in list(parts.elements(_BOOK, "sheet")):
            target = targets.get(_relation(sheet), "").removeprefix("/xl/")
            rows, far = parts.elements(f"xl/{target}", "row"), dict[int, int]()
            yield sheet.get("name", ""), (_row(row, strings, far) for row in rows)


@contextmanager
def _reporting(path: Path) -> Iterator[None]:
    try:
        yield
    except _DAMAGED as error:
        reason = f"not a workbook ({error})"
        raise Errors.source_unreadable(path=path, reason=reason) from error


class _Parts:
    """Parts of a workbook, unpacked one by one for the reader of XML."""

    def __init__(self, book: ZipFile, directory: Path, path: Path) -> None:
        self._book, self._directory, self._path = book, directory, path

    def elements(self, name: str, tag: str) -> Iterator[Element]:
        """Stream the elements with a tag; none when the part is not there."""
        if name not in self._book.namelist():
            return
        member = self._book.getinfo(name)
        if member.file_size > min(_LARGEST, most_of(member.compress_size)):
            reason = f"{name} in it is far too large ({member.file_size >> 20:,} MB)"
            raise Errors.source_unreadable(path=self._path, reason=reason)
        part = self._directory / name.replace("/", "-")
        with _reporting(self._path), self._book.open(name) as source, part.open("wb") as target:
            shutil.copyfileobj(source, target)
        for record in xml_records(part, {tag}):
            yield record.element


def _relation(sheet: Element) -> str:
    # Expat does not resolve prefixes; all programs write "r:id".
    return sheet.get("r:id") or sheet.get(_RELATION) or ""


def _row(row: Element, strings: list[str], far: dict[int, int]) -> Row:
    """Read a row. far: places of the columns far to the right, which move together."""
    cells: list[str] = []
    for cell in row.iter("c"):
        place = _column(cell.get("r", ""))
        if place is None:
            place = len(cells)
        elif place >= _NEAR:
            place = far.setdefault(place, _NEAR + len(far))
        cells.extend([""] * (place + 1 - len(cells)))
        cells[place] = _value(cell, strings)
    number = row.get("r", "")
    return int(number) if number.isdecimal() and len(number) < 10 else 0, cells


def _column(reference: str) -> int | None:
    """Read the column of "AB12", from 0."""
    letters = re.match(r"[A-Z]{1,3}(?=\d)", reference)
    if not letters:
        return None
    place = 0
    for letter in letters[0]:
        place = 26 * place + ord(letter) - ord("A") + 1
    return place - 1


def _value(cell: Element, strings: list[str]) -> str:
    kind, value = cell.get("t", "n"), cell.findtext("v") or ""
    if kind == "inlineStr":
        return "".join(_text(each) for each in cell.iter("is"))
    if kind == "s":
        known = value.isdecimal() and len(value) < 10 and int(value) < len(strings)
        return strings[int(value)] if known else ""
    return value.removesuffix(".0") if kind == "n" else value


def _text(element: Element) -> str:
    """Join the runs of a string; pronunciations (rPh) are not part of it."""
    if element.find("t") is not None:
        return element.findtext("t") or ""
    return "".join(run.findtext("t") or "" for run in element.iter("r"))
