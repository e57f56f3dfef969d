"""BioSyn dictionaries: one `id||name` a line, ids of one concept joined by "|" or "+"."""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from ..kb.readers.fields import FieldError, identifier, sound, surface
from ..kb.readers.lines import filled_lines
from ..kb.readers.xrefs import code_by_shape
from ..kb.vocabularies import by_vocabulary
from ..types import BadLines, Concept, Name, Record, Retired

_JOINED = re.compile(r"[|+]")
_EXPECTED = "`id||name`, or `id|id||name`"


def read(
    path: Path, bad_lines: BadLines = None, *, lang: str = "en", source: str = ""
) -> Iterator[Record]:
    """Stream the concepts of a BioSyn dictionary; consecutive lines of one id make one concept.

    The first of several ids is the concept's id. The others become codes, and retired ids that lead
    to the concept. The first line has the preferred name.

    lang, source (str): language and source of all names, because the format has neither.
    RAISES (MedlinkError): E105 for a bad line, unless `bad_lines` collects it.
    """
    rows = sound(path, filled_lines(path, bad_lines), _split, bad_lines, _EXPECTED)
    for _, group in groupby((row for _, row in rows), key=lambda row: row[0][0]):
        yield from _records(list(group), lang, source)


def _split(line: str) -> tuple[list[str], str]:
    fields = line.split("||")
    if len(fields) != 2:
        raise FieldError(f"{len(fields)} fields between `||`", _EXPECTED)
    ids, name = fields
    if name.startswith("|"):
        raise FieldError("`|||`: an id or a name is missing", _EXPECTED)
    return [identifier(id) for id in _JOINED.split(ids)], surface(name)


def _records(lines: list[tuple[list[str], str]], lang: str, source: str) -> Iterator[Record]:
    names = [name for _, name in lines]
    id, *others = dict.fromkeys(id for ids, _ in lines for id in ids)
    yield Concept(
        id=id,
        name=names[0],
        names=tuple(Name(name, lang, source) for name in names),
        codes=by_vocabulary(filter(None, map(code_by_shape, (id, *others)))),
    )
    for other in others:
        yield Retired(other, id, "alternative")
