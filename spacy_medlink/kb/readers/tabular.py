"""Tables of names, TSV or CSV, with columns found by header or given by a column map."""

import re
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

from ...errors import Errors, Warnings
from ...types import BadLines, Concept, Name, Record
from ...util import sides
from ...util.telling import tell
from ..vocabularies import canonical, is_known, iso_639_1
from ..writer import unite
from .fields import FieldError, cell, identifier, sound, surface
from .headers import HEADERS, code_column, folded, places_of
from .rows import fitted, read_table

FIELDS = tuple(field for field in HEADERS if field != "frequency")
"""The fields that a column can fill."""
_CODE = "code:"
MAIN = "main"
"""The field of what says that a row's name is the preferred one: anything but 0, no or false."""
_NO = frozenset({"", "0", "false", "no", "n"})
_NAMES = ("name", "synonyms", "definition")  # what may have entities and tags of HTML
_LISTS = ("synonyms", "type")  # in whose values a comma may be part
MANY = (*_LISTS, "parents")  # fields that several columns may fill, as codes of a vocabulary may
_LONGEST_CODE = 3  # letters of a code of a language
_NUMBERED = re.compile(r"\d+$")  # behind the headers of such columns
Columns = Mapping[str, str | int | Sequence[str | int]]
PublishedReader = Callable[[BadLines, str, str, list[int]], Iterator[tuple[int, Record]]]
"""Reads a table of a known layout: (bad lines, language, vocabulary, lines in Windows-1252)."""
_COMMA = re.compile(r",\s|[^\W\d]{2},[^\W\d]{2}")
_BETWEEN_IDS = re.compile(r"[|;,\n]")


@dataclass(frozen=True)
class Layout:
    """The columns of the fields: positions from 0, several for a list; codes by vocabulary.

    width (int): number of columns. has_header (bool): whether the first row is a header.
    unread (Tuple[str, ...]): headers of the other columns, where the columns were found by header.
    """

    fields: Mapping[str, tuple[int, ...]]
    codes: Mapping[str, tuple[int, ...]]
    width: int
    has_header: bool
    unread: tuple[str, ...] = ()


def read(
    path: Path,
    bad_lines: BadLines = None,
    *,
    columns: Columns | None = None,
    delimiter: str = "",
    separator: str = "",
    lang: str = "",
    source: str = "",
    encoding: str = "",
) -> Iterator[Record]:
    """Stream the concepts of a table: a row has an id and a name, and may have more.

    Rows with one id are merged; the first row has the preferred name. Marks of a missing value,
    such as "nan" and "#N/A", are none; entities and tags of HTML in names are decoded. Columns
    that are not known by their headers are named in a warning.

    columns (Optional[Mapping[str, str | int | Sequence]]): field to header or number from 1 ("2" is
        the second column), to several for synonyms, type, parents and codes. Fields: id, name,
        synonyms, lang, type, source, tty, definition, parents, and "code:ICD10CM" for codes. None
        finds them by usual headers. With numbers alone, the first row is data unless it holds usual
        headers.
    delimiter (str): separates cells; "" takes the most frequent one of the first line.
    separator (str): separates the values of synonyms, type, parents and codes; "" finds "|", else
        ";", else a line end in each column of synonyms and types, and any of these or "," between
        ids.
    lang, source (str): language and source of names in rows that have none; "" is English.
    encoding (str): of the file; "" for UTF-8, with Windows-1252 for lines that are not.
    RAISES (MedlinkError): E161 without a header, E161 without a column of ids or names, E132 where
        commas may separate synonyms; E105 for a bad line, unless `bad_lines` collects it.
    """
    western: list[int] = []
    if columns or not published_table(path, encoding):
        laid_out = layout_of(path, columns, encoding, delimiter)
        if laid_out is not None and laid_out[0].unread:
            tell_unread(path, laid_out[0].unread)
    pieces = numbered(
        path, bad_lines, columns=columns, delimiter=delimiter, separator=separator, lang=lang,
        source=source, encoding=encoding, western=western,
    )  # fmt: skip
    for _, group in groupby((piece for _, piece in pieces), key=lambda piece: piece.id):
        records = list(group)
        concepts = [record for record in records if isinstance(record, Concept)]
        yield from [unite(concepts)] if len(concepts) == len(records) else records
    tell_western(path, western)


def numbered(
    path: Path,
    bad_lines: BadLines = None,
    *,
    columns: Columns | None = None,
    delimiter: str = "",
    separator: str = "",
    lang: str = "",
    source: str = "",
    encoding: str = "",
    western: list[int] | None = None,
) -> Iterator[tuple[int, Record]]:
    """Stream the record of each row with the row's line number; see `read`.

    western (Optional[List[int]]): collects the numbers of lines that are read as Windows-1252.
    """
    western = [] if western is None else western
    if not columns and (published := published_table(path, encoding)):
        yield from published(bad_lines, lang, source, western)
        return
    rows = read_table(path, bad_lines, delimiter, western, encoding)
    first = next(rows, None)
    if first is None:
        return
    layout = _layout(path, first[1], columns)
    table = _Table(path, delimiter, encoding)
    separators = {
        field: separator or _separator(table, field, layout.fields[field])
        for field in _LISTS if field in layout.fields
    }  # fmt: skip
    separators["ids"] = separator
    default = Name("", lang or "en", source)

    def concept(cells: list[str]) -> Concept:
        return _concept(fitted(cells, layout.width), layout, separators, default)

    yield from sound(path, rows if layout.has_header else chain([first], rows), concept, bad_lines)


def published_table(path: Path, encoding: str = "") -> PublishedReader | None:
    """Find the reader of a table that has its publisher's layout, if a side has registered it."""
    finders = (
        sides.load_if_there("medlink_layouts", name) for name in sides.names("medlink_layouts")
    )
    readers: Iterator[PublishedReader | None] = (find(path, encoding) for find in finders if find)
    return next(filter(None, readers), None)


def tell_unread(path: Path, headers: Sequence[str]) -> None:
    """Warn of columns that are not read."""
    example = "id=CODE,name=TERM,type=KIND"
    tell(Warnings.unread_columns.format(path=path, columns=", ".join(headers), example=example))


def tell_western(path: Path, western: list[int]) -> None:
    """Warn once of lines that were read as Windows-1252. western: their numbers."""
    if western:
        count, line = len(western), western[0]
        tell(Warnings.western_lines.format(path=path, count=count, line=line))


class _Table(NamedTuple):
    path: Path
    delimiter: str
    encoding: str

    def rows(self) -> Iterator[list[str]]:
        rows = read_table(self.path, [], self.delimiter, [], self.encoding)
        return (cells for _, cells in rows)


def layout_of(
    path: Path, columns: Columns | None = None, encoding: str = "", delimiter: str = ""
) -> tuple[Layout, list[str]] | None:
    """Find the columns of a table.

    RETURNS: the layout and the cells of the first row; None for an empty table.
    RAISES (MedlinkError): E161, E161 as `read` does.
    """
    first = next(_Table(path, delimiter, encoding).rows(), None)
    return None if first is None else (_layout(path, first, columns), first)


def _separator(table: _Table, field: str, columns: tuple[int, ...]) -> str:
    """Find what separates the values of a field.

    RAISES (MedlinkError): E132 where only commas may, which are also parts of names.
    """
    marks, doubtful = dict[str, None](), ""
    rows = table.rows()
    for raw in (cells[column] for cells in rows for column in columns if column < len(cells)):
        text = cell(raw, is_name=True)
        text = "" if _listed(text) else text
        if "|" in text:
            return "|"
        marks |= {mark: None for mark in ";\n" if mark in text}
        doubtful = doubtful or (text if field == "synonyms" and _COMMA.search(text) else "")
    if doubtful and not marks:
        what = "what separates its synonyms"
        remedy = "`--separator ', '`, or with `--separator '|'` if the comma is part of the name"
        raise Errors.unclear_source(path=table.path, what=what, value=doubtful, remedy=remedy)
    return ";" if ";" in marks else "\n" if marks else "|"


def _concept(
    cells: list[str], layout: Layout, separators: Mapping[str, str], default: Name
) -> Concept:
    def texts(field: str) -> list[str]:
        columns = layout.fields.get(field, ())
        return [cell(cells[column], is_name=field in _NAMES) for column in columns]

    def read(field: str) -> str:
        return next(iter(texts(field)), "")

    def needed(field: str) -> str:
        if not (text := read(field)) and (raw := cells[layout.fields[field][0]].strip()):
            raise FieldError(f"{raw[:60]!r} for an empty {field}", "a value")
        return text

    def values(field: str) -> tuple[str, ...]:
        mark = separators.get(field, "|")
        split = (value for text in texts(field) for value in _listed(text) or text.split(mark))
        return tuple(filter(None, (cell(value, is_name=True) for value in split)))

    def ids(columns: tuple[int, ...]) -> tuple[str, ...]:
        between = re.compile(re.escape(separators["ids"])) if separators["ids"] else _BETWEEN_IDS
        given = (cell(cells[column]) for column in columns)
        split = (value for text in given for value in _listed(text) or between.split(text))
        return tuple(identifier(id) for value in split if (id := cell(value)))

    lang = iso_639_1(read("lang"))
    if len(lang) > _LONGEST_CODE:
        raise FieldError(f"the language {lang[:60]!r}", "a code of a language, such as 'en'")
    tty = "SY" if MAIN in layout.fields and read(MAIN).lower() in _NO else "PT"
    preferred = Name(
        surface(needed("name")), lang or default.lang,
        read("source") or default.source, read("tty") or tty,
    )  # fmt: skip
    synonyms = (preferred._replace(text=text, tty="SY") for text in values("synonyms"))
    codes = {vocabulary: ids(columns) for vocabulary, columns in layout.codes.items()}
    return Concept(
        id=identifier(needed("id")),
        name=preferred.text,
        names=(preferred, *synonyms),
        types=values("type"),
        definition=read("definition"),
        codes={vocabulary: own_codes for vocabulary, own_codes in codes.items() if own_codes},
        parents=ids(layout.fields.get("parents", ())),
    )


def _listed(text: str) -> list[str]:
    """Read a list as pandas writes it into a cell, "['one', 'two']"; [] for any other text."""
    if text[:1] == "[" and text[-1:] == "]":
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            values = literal_eval(text)
            return values if all(isinstance(value, str) for value in values) else []
    return []


def _layout(path: Path, first: list[str], columns: Columns | None) -> Layout:
    headers = list(map(folded, first))
    places = mapped(path, first, columns) if columns else _usual(headers)
    if not (columns or places):
        column = "with a known name, such as id or name"
        raise Errors.no_column(path=path, column=column, found=", ".join(first)[:500])
    for field in ("id", "name"):
        if field not in places:
            raise Errors.no_column(path=path, column=repr(field), found=", ".join(first)[:500])
    fields = {field: column for field, column in places.items() if not field.startswith(_CODE)}
    codes = {field[len(_CODE) :]: places[field] for field in places if field not in fields}
    given = [column for many in (columns or {}).values() for column in _several(many)]
    by_header = not columns or any(_number(column, len(first)) < 0 for column in given)
    has_header = by_header or {"id", "name"} <= set(_usual(headers))
    taken = set() if not columns else set(range(len(first)))
    taken |= {column for many in places.values() for column in many}
    unread = [header.strip() for column, header in enumerate(first) if column not in taken]
    return Layout(fields, codes, len(first), has_header, tuple(filter(None, unread)))


def mapped(path: Path, first: list[str], columns: Columns) -> dict[str, tuple[int, ...]]:
    """Find the positions of named or numbered columns by the cells of the first row.

    RAISES (MedlinkError): E108 for an unknown field, E161 for a column that is not there.
    """
    headers = [cell.strip() for cell in first]
    places: dict[str, tuple[int, ...]] = {}
    for field, given in columns.items():
        if field not in (*FIELDS, MAIN) and not field.startswith(_CODE):
            raise Errors.unknown_choice(
                what="field of a concept", value=field, known=", ".join((*FIELDS, f"{_CODE}SCHEME"))
            )
        if len(_several(given)) > 1 and field not in MANY and not field.startswith(_CODE):
            what, several = "field that several columns fill", ", ".join((*MANY, f"{_CODE}SCHEME"))
            raise Errors.unknown_choice(what=what, value=field, known=several)
        for column in _several(given):
            position = _number(column, len(first))
            if position < 0 and column in headers:
                position = headers.index(str(column))
            if position < 0:
                raise Errors.no_column(path=path, column=repr(column), found=", ".join(first)[:500])
            places[field] = (*places.get(field, ()), position)
    return places


def _several(given: str | int | Sequence[str | int]) -> Sequence[str | int]:
    return [given] if isinstance(given, str | int) else given


def _number(column: str | int, width: int) -> int:
    """Read a column number from 1, which may be text; -1 where it is no number."""
    if isinstance(column, str) and not (column.isascii() and column.isdigit()):
        return -1
    return int(column) - 1 if 1 <= int(column) <= width else -1


def _usual(headers: list[str]) -> dict[str, tuple[int, ...]]:
    """Find columns by their folded headers: the likeliest one, and of lists all ("synonym1").

    Without a column of ids, the only one of codes has them.
    """
    places: dict[str, tuple[int, ...]] = {}
    free = list(headers)
    for field in FIELDS:
        bare = [_NUMBERED.sub("", header) for header in free] if field in MANY else free
        columns = places_of(field, bare)
        if columns := columns if field in MANY else columns[:1]:
            places[field] = tuple(sorted(columns))
            free = ["" if nth in columns else header for nth, header in enumerate(free)]
    codes = [nth for nth, header in enumerate(free) if header and is_known(header)]
    for nth in codes:
        vocabulary = _CODE + canonical(free[nth])
        places[vocabulary] = (*places.get(vocabulary, ()), nth)
    if "id" not in places and "name" in places:
        column = codes[0] if len(codes) == 1 else None if codes else code_column(free)
        places |= {} if column is None else {"id": (column,)}
    return places
