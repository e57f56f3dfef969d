"""Cells of tables that people open in a spreadsheet: what these execute, and what they change."""

import re

# Beginnings of cells that spreadsheets compute; some also accept full-width characters.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")


def escaped(cell: str) -> str:
    """Put an apostrophe before a cell that a spreadsheet would execute."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unescaped(cell: str) -> str:
    """Remove the apostrophe that `escaped` wrote; other cells do not change."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def as_saved(code: str) -> str:
    """Write a code as spreadsheets save it: they take numbers for numbers, without the zeros."""
    return code.lstrip("0") or "0" if code.isascii() and code.isdecimal() else code
