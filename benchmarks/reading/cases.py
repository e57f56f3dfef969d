"""A case: a text, and what is right for some places in it.

Cases are written by hand in `benchmarks/reading/cases`, a line each (`\\n` is a line end), and in
`benchmarks/reading/notes`, a note a file. `«text|field|...»` marks a place. A field is one of

- names, with ";" between them: the link is to a concept that has one of these names;
- `-`: no link touches the place, which is written as a name;
- `--`: no link touches the place, whatever it is;
- `~`: the same, save for links to what is written there: no words are turned into another name;
- `!names`: the same, save for links to the place's own concept: these names are only its parts;
- `?`: a link here is right, but none is needed, as for organs in a note;
- `absent`, `possible`, `past`, `family`, `hypothetical` or `present`, joined by ",", with "/"
  between ways that are both right: what the text says of the mention.

Without names, `-`, `--` or `~` the place is named as it is written.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).parent
SAID = ("absent", "possible", "past", "family", "hypothetical", "present")
ANYTHING, UNWRITTEN = "--", "~"  # traps that every terminology has: any link, and those not written
_MARK = re.compile(r"«([^«»|]+)((?:\|[^«»|]*)*)»")


class Place(NamedTuple):
    """A place of a text, by characters, and what is right for it.

    names (Tuple[str, ...]): names of the right concepts; () when no link may touch the place.
    ids (FrozenSet[str]): ids of right concepts that are known without their names.
    traps (Tuple[str, ...]): parts that must not be linked for themselves.
    said (Tuple[FrozenSet[str], ...]): the right contexts; () where it is not asked.
    """

    start: int
    end: int
    names: tuple[str, ...] = ()
    ids: frozenset[str] = frozenset()
    traps: tuple[str, ...] = ()
    said: tuple[frozenset[str], ...] = ()
    needed: bool = True


class Case(NamedTuple):
    """A text of a kind (R1 ... R13) and way of writing. `given`: its places are set as mentions."""

    kind: str
    way: str
    text: str
    places: tuple[Place, ...]
    given: bool = False


def read_cases(lang: str) -> Iterator[tuple[str, Case]]:
    """Read all cases that were written by hand in a language, each with its part: dev or held."""
    for path in sorted((DATA / "cases").glob(f"R*.{lang}.*.txt")):
        kind, _, part, _ = path.name.split(".")
        way = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("## "):
                way = line[3:]
            elif line:
                text, places = parse(line.replace("\\n", "\n").replace("\\t", "\t"))
                given = kind in ("R9", "R10") or way == "given"
                yield part, Case(kind, way, text, places, given)


def read_notes(lang: str) -> Iterator[Case]:
    """Read the notes of a language."""
    for path in sorted((DATA / "notes").glob(f"*.{lang}.txt")):
        text, places = parse(path.read_text(encoding="utf-8"))
        yield Case("notes", path.name.split(".")[0], text, places)


def parse(marked: str) -> tuple[str, tuple[Place, ...]]:
    """Take the marks out of a text. RETURNS: the text, and its places."""
    parts, places, start, position = [], [], 0, 0
    for mark in _MARK.finditer(marked):
        parts.append(marked[start : mark.start()])
        position += len(parts[-1])
        place = _place(mark[1], mark[2].split("|")[1:])
        places.append(place._replace(start=position, end=position + len(mark[1])))
        parts.append(mark[1])
        position += len(mark[1])
        start = mark.end()
    return "".join((*parts, marked[start:])), tuple(places)


def _place(text: str, fields: list[str]) -> Place:
    place = Place(0, 0, (text,))
    for field in filter(None, fields):
        if field == "-":
            place = place._replace(names=(), traps=(text,))
        elif field in (ANYTHING, UNWRITTEN):
            place = place._replace(names=(), traps=(field,))
        elif field == "?":
            place = place._replace(needed=False)
        elif field.startswith("!"):
            place = place._replace(traps=tuple(field[1:].split(";")))
        elif set(re.split("[,/]", field)) <= set(SAID):
            said = [frozenset(way.split(",")) - {"present"} for way in field.split("/")]
            place = place._replace(said=tuple(said))
        else:
            place = place._replace(names=tuple(field.split(";")))
    return place


def fill(template: str, names: list[tuple[str, str]]) -> tuple[str, tuple[Place, ...]]:
    """Put texts with their ids into `{0}`, `{1}` ... of a template."""
    parts: list[str] = []
    places = []
    for piece in re.split(r"(\{\d\})", template):
        if re.fullmatch(r"\{\d\}", piece):
            text, id = names[int(piece[1])]
            start = sum(map(len, parts))
            places.append(Place(start, start + len(text), ids=frozenset({id})))
            piece = text
        parts.append(piece)
    return "".join(parts), tuple(places)
