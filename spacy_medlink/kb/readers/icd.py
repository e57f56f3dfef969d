"""Code lists of the ICD family: order files, code files, tables, and the forms of ICD-11."""

import re
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from ...errors import Errors, Warnings
from ...types import ISA, BadLine, Concept, Name, Record, Relation
from ...util.telling import tell
from .fields import FieldError, cell, identifier, surface
from .icd11 import is_tabulation, read_entities, read_tabulation
from .icd_editions import ICD10, ICD11, ICDO3, LISTED, ORDERED, TABLED, Edition, edition_of
from .lines import numbered_lines, report
from .pieces import united
from .rows import read_table

# An order file has the order number in columns 1-5, the code in 7-13, "1" in 15 where the code can
# be reported, a short description in 17-76 and a long one from 78.
_ORDER = re.compile(r"\d{5} \S{3}[\S ]{4} [01] ")
# A code file has the code, then blanks, then the description.
_CODE_FILE = re.compile(r"([A-Z0-9]{2,7}(?:\.[A-Z0-9]{1,4})?) {1,7}(\S.*)")
# Headers of tables: those of the WHO for ICD-O-3 are Code, Struct, Label and Kode, Lvl, Title.
_CODES = ("code", "kode", "icd", "icd-o", "codigo", "código")
_NAMES = ("label", "title", "name", "description", "term", "titel", "descripcion", "descripción")
_KINDS = ("struct", "lvl")
_REMARKS = frozenset({"note", "notes", "excl", "exclusion"})


class _Entry(NamedTuple):
    code: str
    name: str
    other: str = ""
    kind: str = ""
    tty: str = "PT"


_Entries = Callable[[Path, list[BadLine] | None, list[int]], Iterator[_Entry]]
"""A reader of (path, bad lines, numbers of lines in Windows-1252, as CMS writes some)."""


def read(
    path: Path, bad_lines: list[BadLine] | None = None, *, lang: str = "", source: str = ""
) -> Iterator[Record]:
    """Stream the codes of a list as concepts; the parent is the longest code that is a prefix.

    The files of CMS write codes without the dot; it is put back (A00.0, E800.0, 00.01), because all
    other sources write the dot. Where the file says so, categories that cannot be reported have
    the type "category", other codes the type "code". ICD-11 is read from the WHO's tabulation, or
    from entities of its API in JSON.

    lang (str): language of the descriptions; "" means English, or what ICD-11 says. source (str):
        vocabulary; "" finds it by the name of the file and the codes: ICD10CM, ICD10PCS, ICD10,
        ICD10GM, ICD9CM, ICD9PROC, ICD11, ICDO3 or ICPC2.
    RAISES (MedlinkError): E133 where codes and name do not tell the vocabulary, E161 for a table
        that needs a header and has none, E105 for a bad line, unless `bad_lines` collects it.
    """
    # Several lines are tested, because the first one may be damaged.
    lines = [line for _, line in islice(_filled(path, [], []), 20)]
    if lines and lines[0].lstrip()[:1] in ("{", "["):
        yield from read_entities(path, bad_lines, lang, source or ICD11.vocabulary)
        return
    entries, known = _layout(lines)
    if entries is _table and is_tabulation(next(read_table(path, []), (0, []))[1]):
        rows = read_table(path, bad_lines)
        yield from read_tabulation(path, rows, bad_lines, lang, source or ICD11.vocabulary)
        return
    codes = {entry.code for entry in entries(path, [], [])}
    edition = edition_of(path, codes, known, source) if codes else ICD10
    western: list[int] = []
    yield from united(_concepts(entries(path, bad_lines, western), edition, lang or "en"))
    if western:
        count, line = len(western), western[0]
        tell(Warnings.western_lines.format(path=path, count=count, line=line))


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
            id=code, name=entry.name, names=tuple(names), types=(entry.kind,) if entry.kind else (),
            codes={source: (code,)}, parents=(above,) if above else (),
            relations=(Relation(ISA, above, source),) if above else (),
        )  # fmt: skip


def _order_file(
    path: Path, bad_lines: list[BadLine] | None, western: list[int]
) -> Iterator[_Entry]:
    expected = "an order number, a code, 0 or 1, a short and a long description in fixed columns"
    for number, line in _filled(path, bad_lines, western):
        try:
            if not _ORDER.match(line):
                raise FieldError("not a line of an order file", expected)
            short, long = line[16:76].strip(), line[77:].strip()
            name = surface(long or short, "description")
            kind = "code" if line[14] == "1" else "category"
            yield _Entry(identifier(line[6:13], "code"), name, short, kind)
        except FieldError as error:
            report(path, number, error.problem, error.expected, bad_lines)


def _code_file(path: Path, bad_lines: list[BadLine] | None, western: list[int]) -> Iterator[_Entry]:
    for number, line in _filled(path, bad_lines, western):
        match = _CODE_FILE.fullmatch(line.rstrip())
        if match is None:
            report(path, number, "no code and description", "`A000    Cholera ...`", bad_lines)
        else:
            yield _Entry(match[1], match[2])


def _filled(
    path: Path, bad_lines: list[BadLine] | None, western: list[int]
) -> Iterator[tuple[int, str]]:
    lines = numbered_lines(path, bad_lines, western)
    return ((number, line) for number, line in lines if line.strip())


def _table(path: Path, bad_lines: list[BadLine] | None, _: list[int]) -> Iterator[_Entry]:
    rows = read_table(path, bad_lines)
    first = next(rows, None)
    if first is None:
        return
    width = len(first[1])
    headers = [header.strip().lower() for header in first[1]]
    code, name, kind = (_place(headers, known) for known in (_CODES, _NAMES, _KINDS))
    name = name if name is not None else (0 if code == 1 else 1)
    data = chain([first], rows) if code is None else rows
    if width < 2 or (code is None and width > 2):
        raise Errors.no_column(path=path, column="code", found=", ".join(first[1])[:500])
    for number, cells in data:
        try:
            if len(cells) != width:
                raise FieldError(f"{len(cells)} columns", f"{width} columns as in the first line")
            kind_of = "" if kind is None else cell(cells[kind]).lower()
            if kind_of not in _REMARKS:
                # In the topography, levels are numbers; rows of other kinds are inclusions.
                tty = "PT" if kind_of in ("", "title") or kind_of.isdigit() else "SY"
                id = identifier(cell(cells[code or 0]), "code")
                yield _Entry(id, surface(cell(cells[name], is_name=True)), tty=tty)
        except FieldError as error:
            report(path, number, error.problem, error.expected, bad_lines)


def _place(headers: list[str], known: tuple[str, ...]) -> int | None:
    whole = next((headers.index(header) for header in known if header in headers), None)
    last = (place for place, header in enumerate(headers) if header.split(" ")[-1] in known)
    return next(last, None) if whole is None else whole  # "diagnosis code"
