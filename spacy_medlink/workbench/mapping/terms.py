"""Terms to be mapped, read from a table or from another knowledge base."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ...errors import Errors
from ...kb import KnowledgeBase
from ...kb.readers.headers import code_column, folded, places_of
from ...kb.rekey import scheme_of
from ...types import CodeMap
from .tables import Pasted, Problems, Source, read_table

CONTEXT = re.compile("^(?:context|ADD_INFO):")
"""The beginnings of the headers of context columns, in our own files and in Usagi's."""


class Term(NamedTuple):
    """A term to be mapped.

    name, code, frequency (str): cells of the table, "" where there is none.
    context (Tuple[str, ...]): further cells, one for each context column.
    names (Tuple[str, ...]): further names. codes (Tuple[CodeMap, ...]): codes in vocabularies that
        a knowledge base may know, with their relations to the term.
    """

    name: str
    code: str = ""
    frequency: str = ""
    context: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    codes: tuple[CodeMap, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """The key of the term in its table."""
        return self.code, self.name

    @property
    def all_names(self) -> tuple[str, ...]:
        """The name of the term, and its further names."""
        return (self.name, *self.names)


class Columns(NamedTuple):
    """Headers of a table's columns; "" to find a column by its usual headers."""

    name: str = ""
    code: str = ""
    frequency: str = ""
    context: tuple[str, ...] = ()


class Terms:
    """The terms of a table.

    columns (Columns): headers of the columns. vocabulary (str): of the codes, "" if not known.
    problems (Problems): collects the problems of rows, while the terms are read.
    context (List[str]): headers of the context columns. unread (List[str]): of those not read.
    RAISES (MedlinkError): as `read_table`, E615 for a missing column, E407 for an empty file.
    """

    def __init__(self, path: Source, columns: Columns, vocabulary: str, problems: Problems) -> None:
        self._path, self._vocabulary, self._problems = path, vocabulary, problems
        first = next(read_table(path, Problems()), None)
        if first is None:
            what = "row of UTF-8 or Windows-1252 text"
            remedy = "Give a table whose first row names the columns."
            raise Errors.nothing_there(path=path, what=what, remedy=remedy)
        self._header = [cell.strip() for cell in first[1]]
        usual = zip(columns[:3], Columns._fields, ("name", "id", "frequency"), strict=False)
        self._places = [self._place(*column) for column in usual]
        marked = [column for column in self._header if CONTEXT.match(column)]
        given = columns.context or marked
        self._context = [self._place(column, "context", "") for column in given]
        self.context = [CONTEXT.sub("", self._header[at]) for at in self._context]
        read = {*self._places, *self._context}
        self.unread = [
            header for at, header in enumerate(self._header) if header and at not in read
        ]

    def __iter__(self) -> Iterator[Term]:
        width = len(self._header)
        rows = read_table(self._path, self._problems)
        next(rows, None)
        for line, cells in rows:
            # The last cell is "" and stands for a missing column (place -1).
            padded = [*map(str.strip, cells[:width]), *[""] * (width - len(cells)), ""]
            name, code, frequency = (padded[at] for at in self._places)
            if any(cells[width:]) or not name:
                problem = "no name" if not name else "more cells than the header"
                self._problems.note(problem, line)
                continue
            codes = (CodeMap(self._vocabulary, code, "exact"),) if self._vocabulary and code else ()
            context = tuple(padded[at] for at in self._context)
            yield Term(name, code, frequency, context, (), codes)

    def _place(self, wanted: str, what: str, field: str) -> int:
        """Find a column by the wanted header, or by the usual ones of a field; -1 for none."""
        if wanted and wanted in self._header:
            return self._header.index(wanted)
        plain = list(map(folded, self._header))
        at = -1 if wanted else next(iter(places_of(field, plain)), -1)
        if at < 0 and field == "id" and not wanted:
            only = code_column(plain)
            at = -1 if only is None else only
        if at < 0 and (wanted or what == "name"):
            is_pasted = isinstance(self._path, Pasted)
            shown = f"{len(self._header)} others" if is_pasted else ", ".join(self._header)[:500]
            column = repr(wanted) if wanted else "with a usual header for names"
            option = f"`--columns {what}=HEADER`"
            raise Errors.no_text_column(path=self._path, column=column, found=shown, option=option)
        return at


def pasted(text: str, column: str = "") -> Pasted:
    """Take a text as a table, or as lines that are names where its first line names no columns.

    column (str): header of the names, "" to find it.
    """
    first = next(filter(str.strip, text.splitlines()), "")
    header = [folded(cell) for cell in re.split(r"[\t;,|]", first)]
    is_table = not first or column or places_of("name", header) or re.search(r"[\t;|]", first)
    return Pasted(text if is_table else f"name\n{text}")


def terms_of(kb: KnowledgeBase, lang: str = "") -> Iterator[Term]:
    """Stream the concepts of a knowledge base as terms, with codes and the names of a language.

    Each name is there once; obsolete names are left out, unless there are no others.
    """
    for concept in kb:
        fit = [name for name in concept.names if not lang or name.lang in lang.split(",")]
        valid = [name.text for name in fit if not name.obsolete] or [name.text for name in fit]
        names = dict.fromkeys((concept.name, *valid))
        codes = CodeMap(scheme_of(concept), concept.id.rpartition(":")[2], "exact")
        yield Term(
            concept.name, concept.id, "", (), tuple(names)[1:], (codes, *kb.maps(concept.id))
        )
