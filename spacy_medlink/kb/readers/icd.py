"""Code lists of the ICD family: order files, code files, tables, and the forms of ICD-11."""

import re
from collections.abc import Callable, Collection, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from ...errors import Errors, Warnings
from ...types import ISA, BadLines, Concept, Name, Record, Relation
from ...util.telling import tell
from ..writer import united
from .fields import FieldError, cell, identifier, sound, surface
from .icd11 import is_tabulation, read_entities, read_tabulation
from .lines import filled_lines
from .rows import read_table
from .tabular import Columns, Layout, layout_of

_ENOUGH = 0.8  # share of a list's codes that must be codes of its edition: others are headings
_MARKS = re.compile(r"\.?-$|[*†‡+!#]+$")  # behind a code of ICD-10: that there are more, its use


class Edition(NamedTuple):
    """A way to write codes.

    vocabulary (str): of the codes. pattern (Pattern): a code, the dot not needed.
    dot (int): characters before the dot, 0 for none; codes beginning with E have one more in ICD-9.
    """

    vocabulary: str
    pattern: re.Pattern[str]
    dot: int = 0

    def has(self, code: str) -> bool:
        """Tell whether a code, or both ends of a range, are of this edition."""
        parts = _MARKS.sub("", code).split("-")
        return all(self.pattern.fullmatch(part) is not None for part in parts if part)

    def dotted(self, code: str) -> str:
        """Put the dot back where a code lacks it, and take marks off it."""
        if self.vocabulary.startswith("ICD10"):
            code = _MARKS.sub("", code)
        cut = self.dot + (self.vocabulary == "ICD9CM" and code.startswith("E"))
        if not self.dot or len(code) <= cut or not self.pattern.fullmatch(code) or "." in code:
            return code
        return f"{code[:cut]}.{code[cut:]}"


def _edition(vocabulary: str, pattern: str, dot: int = 0) -> Edition:
    return Edition(vocabulary, re.compile(pattern), dot)


_AXIS = "[0-9A-HJ-NP-Z]"
# Only some chapters of ICD-10-CM have codes of seven characters. Those of the ATC look alike.
_ICD10 = r"[A-Z]\d[0-9AB](?:\.?[0-9A-Z]{1,3})?|[EHMOR-Y]\d[0-9AB]\.?(?![A-WYZ]{2})[0-9A-Z]{4}"
ICD10 = _edition("ICD10", _ICD10, 3)
_ICD10CM = ICD10._replace(vocabulary="ICD10CM")
_ICD10PCS = _edition(
    "ICD10PCS",
    rf"(?:[0-9BCDFX]{_AXIS}|[GH]Z){_AXIS}(?:{_AXIS}{{4}})?",  # or the table, of three
)
_ICD9CM = _edition(
    "ICD9CM", r"\d{3}(?:\.?\d\d?)?|V\d\d(?:\.?\d\d?)?|E(?:0[0-3]|[89]\d)\d(?:\.?\d)?", 3
)
_ICD9PROC = _edition("ICD9PROC", r"\d\d(?:\.?\d\d?)?", 2)
_STEM = (
    r"(?:(?:[0-9][A-H]|A[A-C]|[B-NP-SV][A-M])\d[0-9A-Z](?:\.[0-9A-Z]{1,2})?|X[A-Z][0-9A-Z]{2,4})"
)
ICD11 = _edition("ICD11", rf"{_STEM}(?:[&/]{_STEM})*")  # with what is clustered
ICDO3 = _edition("ICDO3", r"M?\d{4}/\d\d?|C\d\d(?:\.\d)?")
_MORPHOLOGY = _edition("ICDO3", r"M?\d{4}/\d\d?")
_OPCS4 = _edition("OPCS4", r"[A-Z]\d\d(?:\.?\d)?", 3)
_ICPC2 = _edition("ICPC2", r"[ABDFHKLNPR-UW-Z]\d\d")
_HCPCS = _edition("HCPCS", r"[A-V]\d{4}|\d{4}[\dFTU]")  # those of CPT among them
# What the files of CMS, and tables, may have.
ORDERED = (_ICD10CM, _ICD10PCS)
LISTED = (*ORDERED, _ICD9CM, _ICD9PROC, _ICPC2, _HCPCS)
TABLED = (ICD10, _ICD10PCS, _ICD9CM, _ICD9PROC, ICD11, _MORPHOLOGY, _ICPC2, _HCPCS)
_ANSWERS = "ICD10CM, ICD10PCS, ICD10, ICD9CM, ICD9PROC (procedures), ICD11, ICDO3, ICPC2"
# What a file or a vocabulary is called.
_CALLED = {
    r"ICD-?10-?PCS|CIE-?10-?PCS": _ICD10PCS, r"ICD-?10-?CM": _ICD10CM, r"ICD-?O": ICDO3,
    r"ICD-?11": ICD11, r"ICD-?10-?GM": ICD10._replace(vocabulary="ICD10GM"),
    r"DESC-(?:LONG|SHORT)-SG|ICD-?9.*(?:PROC|PRCDR|-SG)": _ICD9PROC,
    r"DESC-(?:LONG|SHORT)-DX|(?:ICD|CIE|CIM|CID)-?9": _ICD9CM,
    r"(?:ICD|CIE|CIM|CID)-?10": ICD10, r"ICPC-?2|ICPC(?!-?\d)": _ICPC2,
    r"OPCS": _OPCS4, r"HCPCS": _HCPCS, r"\bCPT\b": _HCPCS._replace(vocabulary="CPT"),
}  # fmt: skip


def edition_of(
    path: Path, codes: Collection[str], editions: Collection[Edition], vocabulary: str = ""
) -> Edition:
    """Find the edition of a list: by the vocabulary, else by its name if that fits, else by codes.

    path (Path): the list. codes (Collection[str]): its codes. editions (Collection[Edition]): the
        editions that its layout can have. vocabulary (str): what the codes are of; codes of an
        unknown one have no dots.
    RAISES (MedlinkError): E132 where several editions fit, or none.
    """
    if vocabulary:
        edition = _called(vocabulary) or _edition(vocabulary, "(?!)")
        return edition._replace(vocabulary=vocabulary)
    by_name = _called(path.name)
    if by_name is not None and _share(by_name, codes) >= _ENOUGH:
        return by_name
    shares = {edition: _share(edition, codes) for edition in editions}
    best = max(shares.values())
    fitting = [edition for edition, share in shares.items() if share == best >= _ENOUGH]
    if len(fitting) != 1:
        likely = ", ".join(edition.vocabulary for edition in fitting) or "none that is known"
        examples = ", ".join(sorted(codes, key=len)[-3:])
        what = f"of which vocabulary its codes are (likely: {likely})"
        remedy = f"`--vocabulary`: {_ANSWERS}, or another one, whose codes stay as they are"
        raise Errors.unclear_source(path=path, what=what, value=examples, remedy=remedy)
    return fitting[0]


def dotted(vocabulary: str, code: str) -> str:
    """Write a code of a vocabulary of this family with its dot; others stay as they are."""
    edition = _called(vocabulary)
    return edition.dotted(code) if edition else code


def _called(name: str) -> Edition | None:
    plain = re.sub(r"[\W_]+", "-", name.upper())
    return next(
        (edition for pattern, edition in _CALLED.items() if re.search(pattern, plain)), None
    )


def _share(edition: Edition, codes: Collection[str]) -> float:
    return sum(map(edition.has, codes)) / max(len(codes), 1)


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
    level: str = ""
    tty: str = "PT"


_Entries = Callable[[Path, BadLines, list[int]], Iterator[_Entry]]
"""A reader of (path, bad lines, numbers of lines in Windows-1252, as CMS writes some)."""


def read(
    path: Path,
    bad_lines: BadLines = None,
    *,
    columns: Columns | None = None,
    lang: str = "",
    source: str = "",
) -> Iterator[Record]:
    """Stream the codes of a list as concepts; the parent is the longest code that is a prefix.

    The files of CMS write codes without the dot; it is put back (A00.0, E800.0, 00.01), because all
    other sources write the dot. Where the file says so, categories that cannot be reported have
    the type "category", other codes the type "code". ICD-11 is read from the WHO's tabulation, or
    from entities of its API in JSON.

    columns (Optional[Columns]): of a table, as for `tabular.read`; None finds them by headers.
    lang (str): language of the descriptions; "" means English, or what ICD-11 says. source (str):
        vocabulary; "" finds it by the name of the file and the codes: ICD10CM, ICD10PCS, ICD10,
        ICD10GM, ICD9CM, ICD9PROC, ICD11, ICDO3 or ICPC2.
    RAISES (MedlinkError): E132 where codes and name do not tell the vocabulary, E161 for a table
        that needs a header and has none, E160 for XML, E105 for a bad line, unless `bad_lines`
        collects it.
    """
    # Several lines are tested, because the first one may be damaged.
    lines = [line for _, line in islice(filled_lines(path, [], []), 20)]
    if lines and lines[0].lstrip()[:1] in ("{", "["):
        yield from read_entities(path, bad_lines, lang, source or ICD11.vocabulary)
        return
    if lines and lines[0].lstrip()[:1] == "<":
        what, expected = "a list of codes", "the codes that its publisher gives as text"
        raise Errors.wrong_file(path=path, what=what, problem="it is XML", expected=expected)
    entries, editions = _layout(lines)
    if columns:
        entries, editions = partial(_table, columns=columns), TABLED
    if entries is _table and is_tabulation(next(read_table(path, []), (0, []))[1]):
        rows = read_table(path, bad_lines)
        yield from read_tabulation(path, rows, bad_lines, lang, source or ICD11.vocabulary)
        return
    first = next(read_table(path, []), (0, []))[1] if entries is _table else []
    if first and (unread := _columns(path, first, columns).unread):
        tell(Warnings.unread_columns.format(path=path, columns=", ".join(unread)))
    codes = {entry.code for entry in entries(path, [], [])}
    edition = edition_of(path, codes, editions, source) if codes else ICD10
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
            id=code, name=entry.name, names=tuple(names),
            types=(entry.level,) if entry.level else (), codes={source: (code,)},
            parents=(above,) if above else (),
            relations=(Relation(ISA, above, source),) if above else (),
        )  # fmt: skip


def _order_file(path: Path, bad_lines: BadLines, western: list[int]) -> Iterator[_Entry]:
    expected = "an order number, a code, 0 or 1, a short and a long description in fixed columns"

    def entry(line: str) -> _Entry:
        if not _ORDER.match(line):
            raise FieldError("not a line of an order file", expected)
        short, long = line[16:76].strip(), line[77:].strip()
        name = surface(long or short, "description")
        level = "code" if line[14] == "1" else "category"
        return _Entry(identifier(line[6:13], "code"), name, short, level)

    rows = sound(path, filled_lines(path, bad_lines, western), entry, bad_lines)
    return (row for _, row in rows)


def _code_file(path: Path, bad_lines: BadLines, western: list[int]) -> Iterator[_Entry]:
    def entry(line: str) -> _Entry:
        match = _CODE_FILE.fullmatch(line.rstrip())
        if match is None:
            raise FieldError("no code and description", "`A000    Cholera ...`")
        return _Entry(match[1], match[2])

    rows = sound(path, filled_lines(path, bad_lines, western), entry, bad_lines)
    return (row for _, row in rows)


def _columns(path: Path, first: list[str], columns: Columns | None) -> Layout:
    if columns and (laid_out := layout_of(path, columns)):
        return laid_out[0]
    headers = [header.strip().lower() for header in first]
    (code, *_), levels = (*_places(headers, _CODES), None), _places(headers, _KINDS)[:1]
    names = sorted(_places(headers, _NAMES), key=lambda column: "short" in headers[column])
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
    path: Path, bad_lines: BadLines, _: list[int], columns: Columns | None = None
) -> Iterator[_Entry]:
    rows = read_table(path, bad_lines)
    first = next(rows, None)
    if first is None:
        return
    layout = _columns(path, first[1], columns)
    at = {field: places[0] for field, places in layout.fields.items() if places}

    def entry(cells: list[str]) -> _Entry | None:
        if len(cells) != layout.width:
            raise FieldError(f"{len(cells)} columns", f"{layout.width} columns as in line 1")
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


def _places(headers: list[str], usual: tuple[str, ...]) -> list[int]:
    """List the columns with a usual header, else those whose last word is one ("icd9_code")."""
    whole = [headers.index(header) for header in usual if header in headers]
    last_words = [re.split(r"[\s_]", header)[-1] for header in headers]
    return whole or [column for column, word in enumerate(last_words) if word in usual]
