"""Gold mentions: reads the annotated files of evaluation, training and comparison.

One JSON object a line, `.gz` accepted: a document
`{"doc_id", "lang", "text", "mentions": [{"start", "end", "mention", "ids", "type"}]}`,
whose text may be missing, or a bare mention `{"mention", "ids", "lang", "type"}`. A `.csv` or
`.xlsx` file is a table of mentions, or of annotations with the notes in another one beside it.
`exchange.gold` reads the files of other tools, where it is installed.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from ..errors import Errors
from ..types import BadLine, BadLines
from ..util.json_text import write_json
from ..util.sides import load_if_there
from .annotated_notes import TABLES, read_annotated_notes
from .readers.fields import FieldError, json_of
from .readers.foreign import what_is
from .readers.lines import DAMAGED, open_source, raw_lines

_EXPECTED = (
    'a document {"text", "mentions": [{"start", "end", "mention", "ids"}]} or a mention '
    '{"mention", "ids"}'
)


class GoldMention(NamedTuple):
    """A mention and its gold ids.

    text (str): the mention as its file writes it.
    ids (Tuple[str, ...]): acceptable ids; () means that no concept is right (NIL).
    start, end (int): offsets in the document, in characters; -1 when the file does not say.
    """

    text: str
    ids: tuple[str, ...]
    start: int = -1
    end: int = -1
    type: str = ""


class GoldDocument(NamedTuple):
    """A document with its mentions; a bare mention is a document without a text.

    doc_id (str): the document's id in the file, else its line number (then `named` is False).
    text (Optional[str]): None when the file leaves it out. line (int): line in the file, from 1.
    """

    doc_id: str
    text: str | None
    lang: str
    mentions: tuple[GoldMention, ...]
    line: int
    named: bool = True


def read_gold(
    path: str | Path,
    *,
    strict: bool = False,
    mismatches: BadLines = None,
    repeated: BadLines = None,
) -> Iterator[GoldDocument]:
    """Stream the documents of a file of gold mentions.

    path (Path): a `.jsonl` or `.jsonl.gz` file, a `.csv`, or a file or directory of another tool.
    strict (bool): raise if a mention's text differs from the text at its offsets, or two documents
        have the same id; otherwise the mention's text counts, and the documents differ by line.
    mismatches (Optional[List[BadLine]]): collects such mentions, one entry each, without their
        text, because notes are private.
    repeated (Optional[List[BadLine]]): collects documents with the id of an earlier document.
    RAISES (MedlinkError): E107 no file, E401 a line and E160 an export that cannot be read, E401
        offsets past the text, E403 a mismatch when `strict`, E404 no mention in the whole file,
        E403 a repeated id of documents when `strict`, E160 a file of another tool without ids.
    """
    path = Path(path)
    any_mention = False
    first_lines: dict[str, int] = {}

    def note(collected: BadLines, line: int, problem: str) -> None:
        if strict:
            raise Errors.gold_mismatch(path=path, line=line, problem=problem)
        if collected is not None:
            collected.append(BadLine(str(path), line, problem))

    for line, text in gold_lines(path):
        if not text.strip():
            continue
        try:
            document = _document(text, line)
        except FieldError as error:
            raise _bad(path, line, error.problem) from error
        # Bare mentions need no id, and several may share one.
        if document.named and (document.text is not None or len(document.mentions) > 1):
            first = first_lines.setdefault(document.doc_id, line)
            if first != line:
                note(repeated, line, f"the document {document.doc_id!r} is in line {first} already")
        for nth, mention in enumerate(document.mentions, 1):
            if problem := _misplaced(path, document, nth, mention):
                note(mismatches, line, problem)
            any_mention = True
        yield document
    if not any_mention:
        raise Errors.no_gold(path=path)


def gold_lines(path: Path) -> Iterable[tuple[int, str]]:
    """Stream (number from 1, line with its end) of a file, plain or `.gz`, or a tool's export.

    RAISES (MedlinkError): E401 for what is not UTF-8, or damaged gzip data; as `read_gold` for an
        export.
    """
    if not path.exists():
        raise Errors.source_missing(path=path)
    other: ModuleType | None = load_if_there("medlink_gold", "exports")  # `exchange.gold`
    records = other.records(path) if other and path.suffix != ".xlsx" else None
    if records is not None:
        return ((line, write_json(record)) for line, record in records)
    if path.suffix in TABLES:
        return enumerate(map(write_json, read_annotated_notes(path)), 1)
    return _lines(path)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    line_number = 0
    with open_source(path) as file:
        try:
            for raw in raw_lines(file):
                line_number += 1
                yield line_number, raw.decode("utf-8-sig" if line_number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise _bad(path, line_number, f"not UTF-8 at byte {error.start} of the line") from error
        except DAMAGED as error:
            raise _bad(path, line_number + 1, f"damaged gzip data ({error})") from error


def _bad(path: Path, line: int, problem: object) -> Exception:
    """Make the error for a line; of the first one, with what the file is where that is known."""
    file = what_is(path) if line == 1 else None
    if file is not None and not {"jsonl", "*"} & {*file.formats}:
        remedy = (
            "gold mentions: `medlink kb build` reads this file" if file.formats else file.remedy
        )
        problem = f"it is {file.what}"
        return Errors.wrong_file(path=path, what="gold", problem=problem, expected=remedy)
    return Errors.wrong_line(path=path, line=line, problem=problem, expected=_EXPECTED)


def _document(text: str, line: int) -> GoldDocument:
    data = _object(json_of(text, _EXPECTED), "the line")
    whole = data.get("text")
    if whole is not None and not isinstance(whole, str):
        raise FieldError('"text" is not a string', _EXPECTED)
    mentions: tuple[GoldMention, ...]
    if "mentions" not in data:
        mentions, whole = (_mention(data, None, 1),), None
    elif isinstance(data["mentions"], list):
        mentions = tuple(_mention(item, whole, nth) for nth, item in enumerate(data["mentions"], 1))
    else:
        raise FieldError('"mentions" is not a list', _EXPECTED)
    doc_id, lang = _string(data, "doc_id"), _string(data, "lang") or "en"
    return GoldDocument(doc_id or str(line), whole, lang, mentions, line, bool(doc_id))


def _mention(item: object, text: str | None, nth: int) -> GoldMention:
    data = _object(item, f"mention {nth}")
    ids = data.get("ids")
    if not isinstance(ids, list) or not all(isinstance(id, str) and id.strip() for id in ids):
        raise FieldError(f'"ids" of mention {nth} is not a list of ids', _EXPECTED)
    start, end = data.get("start", -1), data.get("end", -1)
    if type(start) is not int or type(end) is not int:
        raise FieldError(f'"start" or "end" of mention {nth} is not a whole number', _EXPECTED)
    mention = data.get("mention")
    if mention is None and text is not None and (start, end) != (-1, -1):
        mention = text[max(start, 0) : max(end, 0)]  # the offsets are checked later
    if not isinstance(mention, str):
        raise FieldError(f'mention {nth} has no "mention"', _EXPECTED)
    distinct = tuple(dict.fromkeys(id.strip() for id in ids))
    return GoldMention(mention, distinct, start, end, _string(data, "type"))


def _misplaced(path: Path, document: GoldDocument, nth: int, mention: GoldMention) -> str:
    """Say how a mention differs from the text at its offsets; "" where it does not.

    A mention without offsets is a bare mention. RAISES (MedlinkError): E401 outside of the text.
    """
    text, start, end = document.text, mention.start, mention.end
    if (start, end) == (-1, -1):
        return ""
    if not 0 <= start <= end or (text is not None and end > len(text)):
        length = "unknown" if text is None else len(text)
        problem = f"mention {nth} stands at {start}-{end}, outside the text (length {length})"
        expected = "offsets that count characters, not bytes, from 0"
        raise Errors.wrong_line(path=path, line=document.line, problem=problem, expected=expected)
    if text is None or text[start:end] == mention.text:
        return ""
    return f"mention {nth} is not the text at {start}-{end} ({_hint(text, mention)})"


def _hint(text: str, mention: GoldMention) -> str:
    """Give the right offsets of a mention for a message, without its text."""
    if text[mention.start : mention.end].casefold() == mention.text.casefold():
        return "they differ in case only"
    after = text.find(mention.text, mention.start) if mention.text else -1
    before = text.rfind(mention.text, 0, mention.end) if mention.text else -1
    shifts = [at - mention.start for at in (before, after) if at >= 0]
    if not shifts:
        return "the text does not hold it"
    shift = min(shifts, key=abs)
    way = "later" if shift > 0 else "earlier"
    return f"it stands {abs(shift):,} characters {way}" if shift else "it is longer or shorter"


def _object(data: object, what: str) -> dict[str, object]:
    if not isinstance(data, dict):
        raise FieldError(f"{what} is not an object", _EXPECTED)
    return data


def _string(data: dict[str, object], name: str) -> str:
    value = data.get(name)
    if value is None:
        return ""
    if not isinstance(value, str | int):
        raise FieldError(f'"{name}" is not a string', _EXPECTED)
    return str(value)
