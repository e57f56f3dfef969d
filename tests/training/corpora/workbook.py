"""Write a workbook as spreadsheet programs do: shared strings, gaps, numbers."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_REL = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_PACKAGE = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'

Rows = Sequence[Sequence[str | float]]


def write_workbook(path: Path, sheets: Mapping[str, Rows], formats: Sequence[str] = ()) -> None:
    """Write sheets; formats: number formats of the first columns."""
    strings: list[str] = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        names = "".join(
            f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="rId{n}"/>'
            for n, name in enumerate(sheets, 1)
        )
        workbook = f"<workbook {_MAIN} {_REL}><sheets>{names}</sheets></workbook>"
        book.writestr("xl/workbook.xml", workbook)
        links = "".join(
            f'<Relationship Id="rId{n}" Target="worksheets/sheet{n}.xml"/>'
            for n in range(1, len(sheets) + 1)
        )
        links = f"<Relationships {_PACKAGE}>{links}</Relationships>"
        book.writestr("xl/_rels/workbook.xml.rels", links)
        for n, rows in enumerate(sheets.values(), 1):
            data = "".join(_row(n, row, strings, len(formats)) for n, row in enumerate(rows, 1))
            sheet = f"<worksheet {_MAIN}><sheetData>{data}</sheetData></worksheet>"
            book.writestr(f"xl/worksheets/sheet{n}.xml", sheet)
        codes = "".join(
            f"<numFmt numFmtId='{n}' formatCode={quoteattr(code)}/>"
            for n, code in enumerate(formats, 164)
        )
        styles = "".join(f'<xf numFmtId="{n + 164}"/>' for n in range(len(formats)))
        styles = f'<cellXfs><xf numFmtId="0"/>{styles}</cellXfs>'
        styles = f"<styleSheet {_MAIN}><numFmts>{codes}</numFmts>{styles}</styleSheet>"
        book.writestr("xl/styles.xml", styles)
        items = "".join(f"<si><t>{escape(text)}</t></si>" for text in strings)
        book.writestr("xl/sharedStrings.xml", f"<sst {_MAIN}>{items}</sst>")


def _row(number: int, row: Sequence[str | float], strings: list[str], n_formats: int) -> str:
    cells = []
    for place, value in enumerate(row):
        name = f"{chr(ord('A') + place)}{number}"
        style = place + 1 if place < n_formats else 0
        if isinstance(value, str) and value:
            strings.append(value)
            cells.append(f'<c r="{name}" t="s"><v>{len(strings) - 1}</v></c>')
        elif not isinstance(value, str):
            cells.append(f'<c r="{name}" s="{style}"><v>{value}</v></c>')
    return f'<row r="{number}">{"".join(cells)}</row>'
