"""Gold in the formats of other tools: one function that recognises a file, and reads it.

What it gives are lines of a gold file. A mention of which its file says no concept is left out; a
file without any concept is refused, with the place where the tool would have it.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import Errors, MedlinkError
from ..kb.readers.lines import DAMAGED, open_source, raw_lines
from ..util.json_text import read_json
from . import note_nlp
from .bioc import read_bioc
from .conll import columns_of, read_conll
from .documents import Document, Problems, Strict, gold_record
from .gold_formats import Record
from .medtator import read_medtator
from .pubtator import read_pubtator
from .standoff import read_documents
from .tools import Tool, tool_of
from .uima import read_webanno, read_xmi_document

Line = tuple[int, Record]
_SHOWN, _LINES = 1 << 14, 20  # bytes and lines of a file that tell what it is
_PROLOGUE = r"(?><\?.*?\?>|<!DOCTYPE[^>\[]*(?:\[.*?\])?\s*>|<!--.*?-->|\s+)*"
_WITH_NIL = ("Label Studio", "Prodigy")
_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, csv.Error)
_KNOWN = (
    "brat, BioC, PubTator, XMI or JSON of a CAS, WebAnno TSV, CoNLL, MedTator, doccano, Prodigy, "
    "Label Studio, MedCAT, BigBIO, PubAnnotation, FHIR, phenopackets, or lines of gold"
)


class Kind(NamedTuple):
    """A format of files. begins (Pattern): how a file starts. needs (str): as of `Tool`."""

    name: str
    begins: re.Pattern[str]
    read: Callable[[Path, Problems], Iterable[Document | Record]]
    needs: str


def _kind(name: str, begins: str, read: Any, needs: str) -> Kind:
    return Kind(name, re.compile(begins, re.DOTALL), read, needs)


_FEATURE = "a feature `identifier`, `cui` or `concept` of the annotations"
KINDS = (
    _kind("PubTator", r"\s*+[^|\t\n{<]++\|[ta]\|", read_pubtator, "the sixth column"),
    _kind("BioC", rf"{_PROLOGUE}<(?:\w+:)?collection\b", read_bioc, "an infon `identifier`"),
    _kind("XMI of UIMA", rf"{_PROLOGUE}<(?:\w+:)?XMI\b", read_xmi_document, _FEATURE),
    _kind("MedTator", rf"{_PROLOGUE}<[\w.\-]+>\s*<TEXT\b", read_medtator,
          "an attribute of the tags, such as `cui` or `code`"),
    _kind("WebAnno TSV", r"#FORMAT=WebAnno TSV 3", read_webanno, _FEATURE),
    _kind("brat standoff", r"\s*(?:[TREAMN]\d+|\*|#\d+)\t\w\S* ", read_documents,
          "an N line (`N1<tab>Reference T1 HP:0001945<tab>Fever`) or a note with the code"),
    _kind("NOTE_NLP of OMOP", "note_nlp_id,", lambda path, _: note_nlp.read_gold(path),
          "note_nlp_concept_id, or `code=` in term_modifiers"),
    _kind("CoNLL", "(?!)", read_conll, "a column with ids beside the tags, or tags like B-HP:0001"),
)  # fmt: skip


def records(path: Path) -> Iterator[Line] | None:
    """Stream (line, record) of a file or directory of another tool; None for lines of gold.

    RAISES (MedlinkError): E160 for what is damaged, or has no concept at all; E401 for a line that
        is wrong; E107 for what does not exist.
    """
    if not path.exists():
        raise Errors.source_missing(path=path)
    if path.is_dir():
        return _of_directory(path)
    found = _read(path)
    return _with_ids(path, *found) if found else None


def _of_directory(folder: Path) -> Iterator[Line]:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name[0] != ".")
    if standoff := [file for file in files if file.suffix == ".ann"]:
        files = standoff  # each with its text beside it
    read = []
    for file in files:
        with suppress(MedlinkError):  # what cannot be opened as text is no annotation
            if found := _read(file):
                read.append((file, found))
    if not read:
        problem = "it is a directory without annotations that we know"
        raise Errors.wrong_file(path=folder, what="gold", problem=problem, expected=_KNOWN)
    lines = (
        (line, _within(folder, file, record)) for file, found in read for line, record in found[0]
    )
    return _with_ids(folder, lines, *read[0][1][1:])


def _within(folder: Path, file: Path, record: Record) -> Record:
    """Put the directories of a file before the id that its name gave."""
    below = file.relative_to(folder).parent.as_posix()
    is_named = below != "." and record.get("doc_id") == file.stem
    return {**record, "doc_id": f"{below}/{file.stem}"} if is_named else record


_Found = tuple[Iterator[Line], str, str]
"""Lines, the name of the format, and where it would have an id."""


def _read(path: Path) -> _Found | None:
    start = _start(path)
    if start.lstrip()[:1] in ("{", "["):
        return _json(path)
    kind = next((kind for kind in KINDS if kind.begins.match(start)), None)
    if path.suffix == ".ann":
        kind = next(kind for kind in KINDS if kind.read is read_documents)
    elif kind is None and path.suffix != ".csv" and columns_of(start.splitlines()):
        kind = KINDS[-1]
    if kind is None:
        return None
    return _lines_of(path, kind), kind.name, kind.needs


def _start(path: Path) -> str:
    data = b""
    with suppress(*DAMAGED), open_source(path) as file:
        data = file.read(_SHOWN)
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = data.decode(encoding, "ignore")
    return text if len(data) < _SHOWN else text.rpartition("\n")[0] or text


def _lines_of(path: Path, kind: Kind) -> Iterator[Line]:
    try:
        for each in kind.read(path, Strict()):
            if isinstance(each, Document):
                yield each.line or 1, gold_record(each)
            else:
                yield 1, each
    except MedlinkError:
        raise
    except _UNREADABLE as error:
        raise _damaged(path, kind.name, error) from error


def _json(path: Path) -> _Found | None:
    """Read JSON of a tool: one document of JSON, or one in each line."""
    try:
        with open_source(path) as file:
            # A file of lines is not read as a whole, unless its name says so.
            first = next((line for line in raw_lines(file) if line.strip()), b"")
            is_lines = ".jsonl" in path.suffixes or _is_object(first)
            rest = b"" if is_lines and ".json" not in path.suffixes else file.read()
        data = read_json((first + rest).decode("utf-8-sig"))
    except (ValueError, *DAMAGED):
        return _json_lines(path)  # what is wrong with them is said by line
    if is_lines and ".json" not in path.suffixes:
        return _json_lines(path)
    objects = data if isinstance(data, list) else [data]
    tool = next(filter(None, map(tool_of, islice(objects, _LINES))), None)
    if tool is None:
        return None
    return _whole(path, tool, objects), tool.name, tool.needs


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(read_json(line.decode("utf-8-sig")), dict)
    except ValueError:
        return False


def _whole(path: Path, tool: Tool, objects: list[Any]) -> Iterator[Line]:
    try:
        yield from ((1, record) for record in tool.records(objects))
    except MedlinkError:
        raise
    except _UNREADABLE as error:
        raise _damaged(path, tool.name, error) from error


def _json_lines(path: Path) -> _Found | None:
    tool = None
    with suppress(ValueError, *DAMAGED), open_source(path) as file:
        lines = islice((line for line in raw_lines(file) if line.strip()), _LINES)
        found = (tool_of(read_json(line.decode("utf-8-sig"))) for line in lines)
        tool = next(filter(None, found), None)
    return (_of_lines(path, tool), tool.name, tool.needs) if tool else None


def _of_lines(path: Path, tool: Tool) -> Iterator[Line]:
    """Read a line of JSON after the other; lines of gold among them stay as they are."""
    number = 0
    with open_source(path) as file:
        try:
            for number, line in enumerate(raw_lines(file), 1):
                data = read_json(line.decode("utf-8-sig")) if line.strip() else None
                if data is not None:
                    its_tool = tool_of(data)
                    is_gold = its_tool is None and isinstance(data, dict) and "mentions" in data
                    yield from (
                        [(number, data)] if is_gold
                        else ((number, each) for each in (its_tool or tool).records([data]))
                    )  # fmt: skip
        except MedlinkError:
            raise
        except (*_UNREADABLE, *DAMAGED) as error:
            problem = f"it is no object of {tool.name} ({type(error).__name__}: {error})"
            raise Errors.wrong_line(
                path=path, line=number, problem=problem, expected=f"what {tool.name} writes"
            ) from error


def _damaged(path: Path, name: str, error: Exception) -> MedlinkError:
    return Errors.wrong_file(
        path=path, what=f"a sound file of {name}", problem=f"{type(error).__name__}: {error}",
        expected=_KNOWN,
    )  # fmt: skip


def _with_ids(path: Path, lines: Iterable[Line], name: str, needs: str) -> Iterator[Line]:
    """Leave out mentions of which nothing is said. RAISES (MedlinkError): E160 if none is left."""
    mentions = said = 0
    for line, record in lines:
        given = record.get("mentions", ())
        kept = [mention for mention in given if mention.get("ids") is not None]
        mentions += len(given)
        # NIL is written out where people choose it, else it may be that nobody has linked anything.
        said += sum(bool(mention["ids"]) or name in _WITH_NIL for mention in kept)
        yield line, {**record, "mentions": kept}
    if mentions and not said:
        problem = f"it is {name}, and a concept id is needed: none of {mentions:,} mentions has one"
        raise Errors.wrong_file(path=path, what="gold", problem=problem, expected=needs)
