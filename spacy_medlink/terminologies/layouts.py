"""Tables in the form of their publishers: a row of `layouts.tsv` says how each is read.

Columns of the table, where a column of a file is its header (letters and digits count) or its
number from 1, `/.../` a pattern for headers, and `{A}-{B}` the cells of several:

- file: pattern for the name of the file. first: headers that the first row has, with `|` between
  those of which one is enough; or `1:` or `2:` and a pattern for the first or second line.
- fields: of a concept, `id=CODE; synonyms=A,B`. Of several columns, those of a list (names,
  synonyms, type, parents, former, xref, code:VOCABULARY) all count, of others the first filled one.
- keep, retired, preferred: `column=pattern; ...` of rows that are read at all, that say that an id
  is retired, and that have the preferred name.
- separator: of the values of lists. hierarchy: `prefix`, or lengths, of codes that are parents.
- lang: may be a pattern for the name of the file with a group `lang`. encoding: of lines that are
  not UTF-8.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from ..kb.icd_codes import dotted
from ..kb.readers.fields import cell, identifier, sound, surface
from ..kb.readers.headers import folded
from ..kb.readers.lines import filled_lines
from ..kb.readers.rows import fitted, read_table
from ..kb.readers.tabular import PublishedReader
from ..kb.readers.xlsx import is_workbook
from ..kb.readers.xrefs import code_of, compact
from ..kb.vocabularies import by_vocabulary, canonical, iso_639_1
from ..types import ISA, BadLines, Concept, Name, Record, Relation, Retired

_CODE, _RELATION = "code:", "relation:"
_SPLIT = re.compile(r"\bSPLIT=(\S+)")  # of a ROBOT template
_BIOPORTAL = re.compile(r"https?://purl\.bioontology\.org/ontology/([^/\s]+)/([^/\s]+)")
_BEFORE = re.compile(r"(?:[A-Z]\d\d(?:\.\d)?|[IVXL]+\.)\s+")  # a code before an abbreviated name


class Layout(NamedTuple):
    """A row of the table; see above."""

    name: str
    file: str
    first: str
    delimiter: str
    fields: str
    keep: str
    retired: str
    preferred: str
    separator: str
    hierarchy: str
    vocabulary: str
    lang: str
    encoding: str

    def fits(self, path: Path, start: "_Start") -> bool:
        """Tell whether a file has this layout."""
        if self.file and not re.fullmatch(self.file, path.name.removesuffix(".gz")):
            return False
        if self.first[1:2] == ":":
            lines = start.lines[int(self.first[0]) - 1 :][:1]
            return any(re.match(self.first[2:], line) for line in lines)
        headers = set(map(folded, start.row(self.delimiter)))
        wanted = (choice.split("|") for choice in self.first.split("; "))
        return all(not headers.isdisjoint(map(folded, choice)) for choice in wanted)

    def language(self, path: Path) -> str:
        """Find the language of names without one."""
        named = re.fullmatch(self.lang, path.name) if "?P<lang>" in self.lang else None
        return named["lang"] if named else self.lang.rpartition("|")[2]


def _layouts() -> list[Layout]:
    table = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8")
    rows = (Layout(*line.split("\t")) for line in table.splitlines()[1:])
    return [row._replace(delimiter=row.delimiter.replace("\\t", "\t")) for row in rows]


LAYOUTS = _layouts()


class _Start:
    """The first lines of a file, and its first row by delimiter. encoding (str): "" for UTF-8."""

    def __init__(self, path: Path, encoding: str) -> None:
        self._path, self._encoding = path, encoding
        self._rows: dict[str, list[str]] = {}
        if is_workbook(path):
            self.lines = ["\t".join(row) for _, row in islice(read_table(path, []), 2)]
        else:
            lines = filled_lines(path, [], [], encoding)
            self.lines = [line for _, line in islice(lines, 2)]

    def row(self, delimiter: str) -> list[str]:
        """Read the first row."""
        if delimiter not in self._rows:
            rows = read_table(self._path, [], delimiter, [], self._encoding)
            self._rows[delimiter] = next(rows, (0, list[str]()))[1]
        return self._rows[delimiter]


def find(path: Path, encoding: str = "") -> PublishedReader | None:
    """Find the reader of a table that has the layout of a publisher; None for other tables."""
    start = _Start(path, encoding)
    layout = next((layout for layout in LAYOUTS if layout.fits(path, start)), None)
    return None if layout is None else partial(_read, path, layout, encoding)


def _read(
    path: Path,
    layout: Layout,
    encoding: str,
    bad_lines: BadLines,
    lang: str,
    source: str,
    western: list[int],
) -> Iterator[tuple[int, Record]]:
    """Stream the records of rows, those with preferred names first, with the numbers of lines.

    western (List[int]): collects lines in Windows-1252, unless the layout has such ones.
    """
    default = Name("", lang or layout.language(path) or "en", source or layout.vocabulary)
    other = [] if layout.encoding else western
    seen: dict[str, str] = {}  # codes of a hierarchy without dots, and with
    for wanted in (True, False) if layout.preferred else (None,):
        lines = bad_lines if wanted is not False else []
        rows = read_table(path, lines, layout.delimiter, other, encoding)
        other = []
        columns, rows = _columns(layout, rows)
        reader = _Reader(layout, columns, default, seen)
        if layout.first.startswith("2:"):
            kept = list(rows)  # templates are written by hand
            reader.ids.update(reader.named(kept))
            rows = iter(kept)
        yield from (
            (line, record)
            for line, records in sound(path, rows, partial(reader.records, wanted), lines)
            for record in records
        )


def _columns(
    layout: Layout, rows: Iterator[tuple[int, list[str]]]
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Take the headers off the rows: of a template the second row; numbers where there are none."""
    _, first = line_and_first = next(rows, (0, list[str]()))
    if layout.first.startswith("1:"):
        width = max(len(first), 20)  # short rows, and longer ones below, are no faults
        return list(map(str, range(1, width + 1))), chain([line_and_first], rows)
    if layout.first.startswith("2:"):
        second = next(rows, (0, list[str]()))[1]
        first = [*second, *[""] * (len(first) - len(second))]
    return first, rows


class _Reader:
    """Makes records of rows.

    columns (List[str]): their headers. default (Name): language and source of names without one.
    seen (Dict[str, str]): codes of rows before, by what they are without a dot.
    """

    def __init__(
        self, layout: Layout, columns: list[str], default: Name, seen: dict[str, str]
    ) -> None:
        self._layout, self._columns, self._default, self._seen = layout, columns, default, seen
        self._headers = list(map(folded, columns))
        self.ids: dict[str, str] = {}  # by name, where parents may be given by name
        pairs = (part.partition("=") for part in layout.fields.split("; "))
        self._fields = {field: self._cells_of(columns) for field, _, columns in pairs}
        self._keep, self._retired, self._preferred = map(
            self._conditions, (layout.keep, layout.retired, layout.preferred)
        )

    def records(self, wanted: bool | None, row: list[str]) -> list[Record]:
        """Read a row. wanted (Optional[bool]): only if it has, or has not, a preferred name."""
        cells = fitted(row, len(self._columns))
        is_preferred = _fulfils(cells, self._preferred)
        if wanted not in (None, is_preferred) or not _fulfils(cells, self._keep):
            return []
        id, own_code = self._id(self._first("id", cells))
        if self._retired and _fulfils(cells, self._retired):
            heir = self._first("replaced", cells)
            return [Retired(id, heir, "replaced" if heir else "obsolete")]
        concept = self._concept(id, own_code, cells, is_preferred)
        former = (identifier(old) for old in self._values("former", cells))
        return [concept, *(Retired(old, id, "merged") for old in former if old != id)]

    def named(self, rows: list[tuple[int, list[str]]]) -> Iterator[tuple[str, str]]:
        """List names with their ids."""
        for _, row in rows:
            cells = [*row, *[""] * len(self._columns)]
            yield self._first("name", cells), self._first("id", cells)

    def _concept(
        self, id: str, own_code: tuple[str, str] | None, cells: list[str], is_preferred: bool
    ) -> Concept:
        first, *others = self._values("names", cells) or [surface(self._first("name", cells))]
        lang = iso_639_1(self._first("lang", cells)) or self._default.lang
        source = "|".join(self._values("source", cells)) or self._default.source
        name = Name(first, lang, source, "PT" if is_preferred else "SY")
        others += self._values("synonyms", cells)
        short = (_BEFORE.sub("", text) for text in self._values("short", cells))
        names = dict.fromkeys(
            (name, *(name._replace(text=text, tty="SY") for text in others if text != first),
             *(name._replace(text=text, tty="AB") for text in short if text and text != first))
        )  # fmt: skip
        above = (self.ids.get(parent, parent) for parent in self._values("parents", cells))
        parents = tuple(self._id(parent)[0] for parent in above)
        parents = parents or self._above(id)
        codes = [own_code] if own_code else []
        codes += filter(None, map(code_of, self._values("xref", cells)))
        for field in self._fields:
            if field.startswith(_CODE):
                vocabulary = field.removeprefix(_CODE)
                codes += ((vocabulary, identifier(code)) for code in self._values(field, cells))
        relations = [Relation(ISA, parent, source) for parent in parents]
        for field in self._fields:
            if field.startswith(_RELATION) and (value := self._first(field, cells)):
                relations.append(Relation(field.removeprefix(_RELATION), value, source))
        return Concept(
            id, first, tuple(names), tuple(map(_local, self._values("type", cells))),
            self._first("definition", cells), by_vocabulary(codes), parents, tuple(relations),
        )  # fmt: skip

    def _id(self, text: str) -> tuple[str, tuple[str, str] | None]:
        """Read an id, and its code in its vocabulary, if that is known."""
        text = identifier(text)
        if match := _BIOPORTAL.fullmatch(text):
            return match[2], (canonical(match[1]), match[2])
        if text.startswith(("http://", "https://")):
            text = compact(text)
        prefix, colon, local = text.partition(":")
        if colon and local.startswith(f"{prefix}:"):  # as gilda has "CHEBI" and "CHEBI:15365"
            text = local
        vocabulary = self._default.source
        if not vocabulary:
            return text, None
        text = dotted(vocabulary, text)
        return text, None if ":" in text else (vocabulary, text)

    def _above(self, id: str) -> tuple[str, ...]:
        """Find the parent of a code by its hierarchy: the longest code that it begins with."""
        hierarchy, plain = self._layout.hierarchy, id.replace(".", "")
        if not hierarchy:
            return ()
        self._seen[plain] = id
        lengths = range(3, len(plain)) if hierarchy == "prefix" else map(int, hierarchy.split())
        above = [plain[:length] for length in lengths if length < len(plain)]
        if hierarchy == "prefix":
            above = [code for code in above if code in self._seen]
        return tuple(self._seen.get(code, code) for code in above[-1:])

    def _first(self, field: str, cells: list[str]) -> str:
        texts = (read(cells) for read in self._fields.get(field, ()))
        return next(filter(None, texts), "")

    def _values(self, field: str, cells: list[str]) -> list[str]:
        """List the values of a field, those of all its columns."""
        values = list[str]()
        for read in self._fields.get(field, ()):
            text, separator = read(cells), getattr(read, "keywords", {}).get("separator", "")
            parts = text.split(separator) if separator else [text]
            values += filter(None, (cell(part.strip('" '), is_name=True) for part in parts))
        return values

    def _cells_of(self, columns: str) -> list[Callable[[list[str]], str]]:
        """Make readers of cells, one for each column that is there."""
        readers: list[Callable[[list[str]], str]] = []
        for column in [columns] if columns.startswith("/") else columns.split(","):
            if column.startswith("{"):
                names = re.findall(r"{([^}]+)}", column)
                places = [self._places(name)[:1] for name in names]
                if all(places):
                    at = [place for (place,) in places]
                    readers.append(partial(_joined, re.sub(r"{[^}]+}", "{}", column), at))
                continue
            for place in self._places(column):
                split = _SPLIT.search(self._columns[place])
                separator = split[1] if split else self._layout.separator
                readers.append(partial(_cell_at, place, separator=separator))
        return readers

    def _places(self, column: str) -> list[int]:
        """List the places of a column."""
        if column.startswith("/"):
            pattern = re.compile(column[1:-1])
            headers = (header.strip() for header in self._columns)
            return [place for place, header in enumerate(headers) if pattern.fullmatch(header)]
        wanted = folded(column)
        return [place for place, header in enumerate(self._headers) if header == wanted][:1]

    def _conditions(
        self, conditions: str
    ) -> list[tuple[Callable[[list[str]], str], re.Pattern[str]]]:
        pairs = (part.partition("=") for part in conditions.split("; ") if part)
        return [
            (read, re.compile(pattern))
            for column, _, pattern in pairs for read in self._cells_of(column)
        ]  # fmt: skip


def _cell_at(place: int, cells: list[str], separator: str = "") -> str:
    """Read a cell. separator (str): of its values, for lists."""
    return cell(cells[place], is_name=True)


def _joined(template: str, places: Sequence[int], cells: list[str]) -> str:
    """Join cells in a template, without signs at its end; "" where the first cell is empty."""
    texts = [cells[place].strip() for place in places]
    return template.format(*texts).rstrip(":-") if texts[0] else ""


def _fulfils(
    cells: list[str], conditions: list[tuple[Callable[[list[str]], str], re.Pattern[str]]]
) -> bool:
    """Tell whether a row fulfils all conditions."""
    return all(pattern.fullmatch(read(cells)) for read, pattern in conditions)


def _local(value: str) -> str:
    """Shorten an address of a type to its last part, as "T047"."""
    return re.split(r"[/#]", value)[-1] if value.startswith(("http://", "https://")) else value
