"""Reads the cells' values from the sheets of a workbook (.xlsx), a zip of XML files."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from xml.etree.ElementTree import Element
from zipfile import ZipFile

from ...errors import Errors
from .archives import DAMAGED, unpacked
from .xml_records import xml_records

Row = tuple[int, list[str]]
Parts = Mapping[str, Path]
"""Unpacked files by their names in the workbook."""
_NEAR = 256  # columns whose gaps are filled: one stray cell would make 18,278 of each row
_BOOK, _LINKS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
_STRINGS, _STYLES = "xl/sharedStrings.xml", "xl/styles.xml"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_BUILT_IN = {"1": "0", "2": "0.00"}  # formats of zeros that are known by their number
_LONGEST = 255  # characters of a format, and digits of a number that is shown in it
_DIGIT, _POINT = "\0", "\1"  # in place of those of a format; XML can hold neither
# A part of a format that shows digits and fixed characters alone, such as 000-00.
_PART = re.compile(
    r"""(?P<digit>0) | (?P<point>\.) | "(?P<quoted>[^"]*)" | \\(?P<escaped>.)
    | (?P<fixed>[-+\ ():!^&'~{}<>=$]) | (?P<nothing>[_*]. | \[(?:\$-[^\]]*|[a-z]+)\])""",
    re.VERBOSE | re.IGNORECASE,
)


def read_sheets(path: Path) -> Iterator[tuple[str, Iterator[Row]]]:
    """Stream (name, rows) of the sheets; a row is its number and its cells, gaps filled with "".

    The rows of a sheet must be read before the next sheet is taken.

    RAISES (MedlinkError): E165 when it is not a workbook, E105 for bad XML in it, E105 for
        entities.
    """
    if not is_workbook(path):
        raise Errors.source_unreadable(path=path, reason="not a workbook")
    with unpacked(path, r".*\.xml|workbook\.xml\.rels") as directory:
        parts = {file.relative_to(directory).as_posix(): file for file in directory.rglob("*.*")}
        strings = [_text(record) for record in _elements(parts, _STRINGS, "si")]
        formats = _formats(parts)
        targets = {
            link.get("Id", ""): link.get("Target", "")
            for link in _elements(parts, _LINKS, "Relationship")
        }
        for sheet in list(_elements(parts, _BOOK, "sheet")):
            target = targets.get(_relation(sheet), "").removeprefix("/xl/")
            rows, far = _elements(parts, f"xl/{target}", "row"), dict[int, int]()
            yield sheet.get("name", ""), (_row(row, strings, formats, far) for row in rows)


def first_sheet(path: Path) -> Iterator[Row]:
    """Stream the rows of the first sheet that are not blank; as `read_sheets`."""
    for _, rows in read_sheets(path):
        yield from (row for row in rows if any(map(str.strip, row[1])))
        return


def is_workbook(path: Path) -> bool:
    """Tell whether a file is a zip archive with a workbook in it."""
    try:
        with ZipFile(path) as archive:
            return _BOOK in archive.namelist()
    except DAMAGED:
        return False


def _elements(parts: Parts, name: str, tag: str) -> Iterator[Element]:
    """Stream the elements of a part with a tag; none when the part is not there."""
    records = xml_records(parts[name], {tag}) if name in parts else ()
    return (record.element for record in records)


def _relation(sheet: Element) -> str:
    # Expat does not resolve prefixes; all programs write "r:id".
    return sheet.get("r:id") or sheet.get(_RELATION) or ""


def _row(row: Element, strings: list[str], formats: Mapping[str, str], far: dict[int, int]) -> Row:
    """Read a row. far: places of the columns far to the right, which move together."""
    cells: list[str] = []
    for cell in row.iter("c"):
        column = _column(cell.get("r", ""))
        if column is None:
            column = len(cells)
        elif column >= _NEAR:
            column = far.setdefault(column, _NEAR + len(far))
        cells.extend([""] * (column + 1 - len(cells)))
        cells[column] = _value(cell, strings, formats)
    row_number = row.get("r", "")
    return int(row_number) if row_number.isdecimal() and len(row_number) < 10 else 0, cells


def _column(reference: str) -> int | None:
    """Read the column of "AB12", from 0."""
    letters = re.match(r"[A-Z]{1,3}(?=\d)", reference)
    if not letters:
        return None
    column = 0
    for letter in letters[0]:
        column = 26 * column + ord(letter) - ord("A") + 1
    return column - 1


def _value(cell: Element, strings: list[str], formats: Mapping[str, str]) -> str:
    cell_type, value = cell.get("t", "n"), cell.findtext("v") or ""
    if cell_type == "inlineStr":
        return "".join(_text(each) for each in cell.iter("is"))
    if cell_type == "s":
        is_string = value.isdecimal() and len(value) < 10 and int(value) < len(strings)
        return strings[int(value)] if is_string else ""
    if cell_type == "n":
        format = formats.get(cell.get("s", "0"), "")
        return (_as_shown(value, format) if format else "") or value.removesuffix(".0")
    return value


def _formats(parts: Parts) -> dict[str, str]:
    """Read which styles of cells have a format of zeros, as `_zeros` writes it."""
    codes = {
        format.get("numFmtId", ""): format.get("formatCode", "")
        for formats in _elements(parts, _STYLES, "numFmts")
        for format in formats.iter("numFmt")
    }
    styles = (style for group in _elements(parts, _STYLES, "cellXfs") for style in group.iter("xf"))
    ids = [style.get("numFmtId", "") for style in styles]
    return {
        str(style): _zeros(codes.get(id, _BUILT_IN.get(id, ""))) for style, id in enumerate(ids)
    }


def _zeros(code: str) -> str:
    """Mark the digits and the point of a format of positive numbers; "" if it is not of zeros."""
    code, at, format = code.lstrip("#"), 0, ""
    while at < len(code) and code[at] != ";":
        part = _PART.match(code, at)
        if part is None or len(code) > _LONGEST:
            return ""
        shown = {"digit": _DIGIT, "point": _POINT, "nothing": ""}
        format += shown.get(part.lastgroup or "", part[part.lastgroup or ""])
        at = part.end()
    return format if _DIGIT in format.partition(_POINT)[0] else ""


def _as_shown(value: str, format: str) -> str:
    """Write a number as its cell shows it: codes such as 007; "" if a part of it would be lost."""
    try:
        exact = Decimal(value)
        if not 0 <= exact < 10**_LONGEST:
            return ""
    except InvalidOperation:
        return ""
    text = f"{exact:.{format.partition(_POINT)[2].count(_DIGIT)}f}"
    if float(text) != float(exact):
        return ""
    digits = text.replace(".", "").zfill(format.count(_DIGIT))
    first = len(digits) - format.count(_DIGIT) + 1  # digits in place of the first zero
    each = iter([digits[:first], *digits[first:]])
    return re.sub(_DIGIT, lambda _: next(each), format).replace(_POINT, ".")


def _text(element: Element) -> str:
    """Join the runs of a string; pronunciations (rPh) are not part of it."""
    if element.find("t") is not None:
        return element.findtext("t") or ""
    return "".join(run.findtext("t") or "" for run in element.iter("r"))
