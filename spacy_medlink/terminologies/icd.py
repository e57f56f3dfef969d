"""Code lists of the ICD family: order files, code files, tables, XML, and the forms of ICD-11."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from ..errors import Errors
from ..kb.icd_codes import ICD10, ICD11, ICDO3, LISTED, ORDERED, TABLED, Edition, edition_of
from ..kb.readers.fields import FieldError, cell, identifier, sound, surface
from ..kb.readers.headers import HEADERS, folded
from ..kb.readers.lines import filled_lines
from ..kb.readers.rows import fitted, read_table
from ..kb.readers.tabular import (
    Columns,
    Layout,
    layout_of,
    published_table,
    tell_unread,
    tell_western,
)
from ..kb.readers.tabular import read as read_named
from ..kb.readers.xlsx import is_workbook
from ..kb.writer import united
from ..types import ISA, BadLines, Concept, Name, Record, Relation
from .icd11 import is_tabulation, read_entities, read_tabulation
from .icd_xml import read_xml, root_of

# An order file has the order number in columns 1-5, the code in 7-13, "1" in 15 where the code can
# be reported, a short description in 17-76 and a long one from 78.
_ORDER = re.compile(r"\d{5} \S{3}[\S ]{4} [01] ")
# A code file has the code, then blanks, then the description.
_CODE_FILE = re.compile(r"([A-Z0-9]{2,7}(?:\.[A-Z0-9]{1,4})?) {1,7}(\S.*)")
# Headers of the WHO for ICD-O-3 are Code, Struct, Label and Kode, Lvl, Title.
_CODES = ("icd", "icdo", *HEADERS["id"])
_KINDS = ("struct", "lvl")
_SHORT = r"short|kurz|court|corto|breve|abrev|kort"
_REMARKS = frozenset({"note", "notes", "excl", "exclusion"})


class _Entry(NamedTuple):
    code: str
    name: str
    other: str = ""
    level: str = ""
    tty: str = "PT"


_Entries = Callable[[Path, BadLines, list[int], str], Iterator[_Entry]]
"""A reader of (path, bad lines, lines in Windows-1252, as CMS writes some, encoding)."""


def read(
    path: Path,
    bad_lines: BadLines = None,
    *,
    columns: Columns | None = None,
    lang: str = "",
    source: str = "",
    encoding: str = "",
) -> Iterator[Record]:
    """Stream the codes of a list as concepts; the parent is the longest code that is a prefix.

    The files of CMS write codes without the dot; it is put back (A00.0, E800.0, 00.01), because all
    other sources write the dot. Where the file says so, categories that cannot be reported have
    the type "category", other codes the type "code". ICD-11 is read from the WHO's tabulation, or
    from entities of its API in JSON. XML is ClaML, or the tabular list of ICD-10-CM.

    columns (Optional[Columns]): of a table, as for `tabular.read`; None finds them by headers.
    lang (str): language of the descriptions; "" means English, or what ICD-11 says. source (str):
        vocabulary; "" finds it by the name of the file and the codes: ICD10CM, ICD10PCS, ICD10,
        ICD10GM, ICD9CM, ICD9PROC, ICD11, ICDO3 or ICPC2. encoding (str): as for tables, whose
        publishers' layouts are known here, too.
    RAISES (MedlinkError): E132 where codes and name do not tell the vocabulary, E161 for a table
        that needs a header and has none, E160 for other XML, E105 for a bad line, unless
        `bad_lines` collects it.
    """
    if not columns and published_table(path, encoding):
        yield from read_named(path, bad_lines, lang=lang, source=source, encoding=encoding)
        return
    # Several lines are tested, because the first one may be damaged.
    text_lines = () if is_workbook(path) else filled_lines(path, [], [], encoding)
    lines = [line for _, line in islice(text_lines, 20)]
    if lines and lines[0].lstrip()[:1] in ("{", "["):
        yield from read_entities(path, bad_lines, lang, source or ICD11.vocabulary)
        return
    if lines and lines[0].lstrip()[:1] == "<":
        yield from read_xml(path, root_of(lines), bad_lines, lang, source)
        return
    entries, editions = _layout(lines)
    if columns:
        entries, editions = partial(_table, columns=columns), TABLED
    first = next(read_table(path, [], "", [], encoding), (0, []))[1] if entries is _table else []
    if is_tabulation(first):
        rows = read_table(path, bad_lines, "", None, encoding)
        yield from read_tabulation(path, rows, bad_lines, lang, source or ICD11.vocabulary)
        return
    if first and (unread := _columns(path, first, columns).unread):
        tell_unread(path, unread)
    codes = {entry.code for entry in entries(path, [], [], encoding)}
    edition = edition_of(path, codes, editions, source) if codes else ICD10
    western: list[int] = []
    yield from united(_concepts(entries(path, bad_lines, western, encoding), edition, lang or "en"))
    tell_western(path, western)


def _layout(lines: list[str]) -> tuple[_Entries, tuple[Edition, ...]]:
    if any(map(_ORDER.match, lines)):
        return _order_file, ORDERED
    if any("\t" not in line and _CODE_FILE.fullmatch(line.rstrip()) for line in lines):
        return _code_file, LISTED
    # Only the topography of ICD-O-3 calls its codes so.
    return _table, (ICDO3,) if lines and lines[0].lower().startswith("kode") else TABLED


def _concepts(entries: Iterator[_Entry], edition: Edition, lang: str) -> Iterator[Concept]:
    seen: dict[str, str] = {}
    source, shortest = edition.vocabulary, edition.dot or 3
    for entry in entries:
        code = edition.dotted(entry.code)
        plain = code.replace(".", "")
        seen[plain] = code
        above = next((seen[plain[:end]] for end in range(len(plain) - 1, shortest - 1, -1)
                      if plain[:end] in seen), "")  # fmt: skip
        names = [Name(entry.name, lang, source, entry.tty)]
        if entry.other and entry.other != entry.name:
            names.append(Name(entry.other, lang, source, "AB"))
        yield Concept(
            id=code, name=entry.name, names=tuple(names),
            types=(entry.level,) if entry.level else (), codes={source: (code,)},
            parents=(above,) if above else (),
            relations=(Relation(ISA, above, source),) if above else (),
        )  # fmt: skip


def _order_file(
    path: Path, bad_lines: BadLines, western: list[int], encoding: str
) -> Iterator[_Entry]:
    expected = "an order number, a code, 0 or 1, a short and a long description in fixed columns"

    def entry(line: str) -> _Entry:
        if not _ORDER.match(line):
            raise FieldError("not a line of an order file", expected)
        short, long = line[16:76].strip(), line[77:].strip()
        name = surface(long or short, "description")
        level = "code" if line[14] == "1" else "category"
        return _Entry(identifier(line[6:13], "code"), name, short, level)

    rows = sound(path, filled_lines(path, bad_lines, western, encoding), entry, bad_lines)
    return (row for _, row in rows)


def _code_file(
    path: Path, bad_lines: BadLines, western: list[int], encoding: str
) -> Iterator[_Entry]:
    def entry(line: str) -> _Entry:
        match = _CODE_FILE.fullmatch(line.rstrip())
        if match is None:
            raise FieldError("no code and description", "`A000    Cholera ...`")
        return _Entry(match[1], match[2])

    rows = sound(path, filled_lines(path, bad_lines, western, encoding), entry, bad_lines)
    return (row for _, row in rows)


def _columns(path: Path, first: list[str], columns: Columns | None) -> Layout:
    if columns and (laid_out := layout_of(path, columns)):
        return laid_out[0]
    (code, *_), levels = (*_places(first, _CODES), None), _places(first, _KINDS)[:1]
    names = _places(first, HEADERS["name"])
    names.sort(key=lambda column: re.search(_SHORT, first[column], re.IGNORECASE) is not None)
    if len(first) < 2 or (code is None and len(first) > 2):
        raise Errors.no_column(path=path, column="'code'", found=", ".join(first)[:500])
    # Codes have digits, and chapters have Roman numbers.
    is_data = code is None and re.search(r"\d|^\s*[IVXL]+\s*$", first[0])
    name, *others = names or [0 if code == 1 else 1]
    fields = {"id": (code or 0,), "name": (name,), "other": (*others[:1],), "level": (*levels,)}
    taken = {column for places in fields.values() for column in places}
    unread = (title for column, title in enumerate(first) if column not in taken and title.strip())
    return Layout(fields, {}, len(first), not is_data, () if is_data else (*unread,))


def _table(
    path: Path,
    bad_lines: BadLines,
    western: list[int],
    encoding: str,
    columns: Columns | None = None,
) -> Iterator[_Entry]:
    rows = read_table(path, bad_lines, "", western, encoding)
    first = next(rows, None)
    if first is None:
        return
    layout = _columns(path, first[1], columns)
    at = {field: places[0] for field, places in layout.fields.items() if places}

    def entry(cells: list[str]) -> _Entry | None:
        cells = fitted(cells, layout.width)
        struct = cell(cells[at["level"]]).lower() if "level" in at else ""
        if struct in _REMARKS:
            return None
        # In the topography, levels are numbers; rows of other kinds are inclusions.
        tty = "PT" if struct in ("", "title") or struct.isdigit() else "SY"
        id = identifier(cell(cells[at["id"]]), "code")
        other = cell(cells[at["other"]], is_name=True) if "other" in at else ""
        return _Entry(id, surface(cell(cells[at["name"]], is_name=True)), other, tty=tty)

    data = rows if layout.has_header else chain([first], rows)
    yield from (row for _, row in sound(path, data, entry, bad_lines))


def _places(first: list[str], usual: Sequence[str]) -> list[int]:
    """List the columns with a usual header, else those whose last word is one ("icd9_code")."""
    headers = list(map(folded, first))
    whole = [headers.index(header) for header in usual if header in headers]
    last_words = [folded(re.split(r"[\s_]", header.strip())[-1]) for header in first]
    return whole or [column for column, word in enumerate(last_words) if word in usual]
