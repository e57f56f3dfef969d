"""Documents and mentions, as the files of other tools and of corpora give them."""

from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ..errors import Errors

Span = tuple[int, int]


class Ids(NamedTuple):
    """The gold ids of a mention; () is NIL.

    composite (bool): the mention means all of the ids together ("breast and ovarian cancer");
        otherwise each id alone is a right answer. is_said (bool): False where the file says nothing
        of a concept, so that the mention is no gold.
    """

    ids: tuple[str, ...] = ()
    composite: bool = False
    is_said: bool = True


UNSAID = Ids(is_said=False)


class Mention(NamedTuple):
    """A mention.

    said (str): its text as the corpus writes it, "" when there are only offsets.
    spans (Tuple[Tuple[int, int], ...]): start and end of its pieces in the text, in characters;
        () when the corpus does not say.
    parts (Tuple[str, ...]): of a composite mention, a text for each id alone.
    line (int): in its file, from 1; 0 for files without lines.
    """

    said: str
    spans: tuple[Span, ...] = ()
    link: Ids = Ids()
    type: str = ""
    parts: tuple[str, ...] = ()
    line: int = 0


class Document(NamedTuple):
    """A document; a mere list of mentions has no text, and may have no id.

    split (str): the publisher's part of the corpus, "" for none.
    path (Path): the file of the document, or of its annotation.
    """

    doc_id: str
    text: str | None
    mentions: tuple[Mention, ...]
    path: Path
    lang: str = "en"
    split: str = ""
    line: int = 0


class Problems(Protocol):
    """Is told what is wrong with a file: it counts, or stops."""

    def fault(
        self, problem: str, path: Path, line: int = 0, detail: str = "", text: str = ""
    ) -> None:
        """Hear of a place that violates its format."""

    def drop(self, what: str, count: int = 1) -> None:
        """Hear of something that a rule leaves out."""

    def note(self, what: str, count: int = 1) -> None:
        """Hear of something that a rule changes."""


class Strict:
    """Problems of a gold file: the first fault is error E401."""

    def fault(
        self, problem: str, path: Path, line: int = 0, detail: str = "", text: str = ""
    ) -> None:
        """Stop. RAISES (MedlinkError): E401."""
        said = f"it has {problem}" + (f" ({detail})" if detail else "")
        expected = "none of them"
        raise Errors.wrong_line(path=path, line=line, problem=said, expected=expected)

    def drop(self, what: str, count: int = 1) -> None:
        """Pass over it."""

    def note(self, what: str, count: int = 1) -> None:
        """Pass over it."""


def gold_record(document: Document) -> dict[str, Any]:
    """Make a line of a gold file of a document.

    A mention in several pieces is the pieces joined by spaces, and has no offsets. Its ids are None
    where nothing is said of a concept.
    """
    text = fitted(document)
    mentions = [_gold_mention(text, mention) for mention in document.mentions]
    return {
        "doc_id": document.doc_id, "lang": document.lang, "text": text, "mentions": mentions,
    }  # fmt: skip


def _gold_mention(text: str | None, mention: Mention) -> dict[str, Any]:
    ids = list(mention.link.ids) if mention.link.is_said else None
    record: dict[str, Any] = {"ids": ids, "type": mention.type}
    spans = mention.spans if text is None else merged(text, mention.spans)
    if len(spans) == 1:
        record |= {"start": spans[0][0], "end": spans[0][1]}
        if text is not None and is_same(joined(text, spans), mention.said or joined(text, spans)):
            return record  # the text is what the offsets say
    return record | {"mention": mention.said or joined(text or "", spans)}


def fitted(document: Document) -> str | None:
    """Return the text with the line ends that the offsets count."""
    text = document.text
    if text is None or "\r\n" not in text:
        return text
    # A file packed on another system may have other line ends than the offsets count.
    return max((text, text.replace("\r\n", "\n")), key=lambda text: _fits(text, document.mentions))


def _fits(text: str, mentions: tuple[Mention, ...]) -> int:
    return sum(
        is_same(joined(text, mention.spans).casefold(), mention.said.casefold())
        for mention in mentions
        if mention.spans and mention.said
    )


def merged(text: str, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """Join pieces with only white space between them: tools cut mentions at the ends of lines."""
    spans = tuple(sorted(spans))
    pieces = list(spans[:1])
    for before, after in pairwise(spans):
        if 0 <= before[1] <= after[0] and not text[before[1] : after[0]].strip():
            pieces[-1] = (pieces[-1][0], after[1])
        else:
            pieces.append(after)
    return tuple(pieces)


def joined(text: str, spans: tuple[Span, ...]) -> str:
    """Return the text of the pieces of a mention."""
    return " ".join(text[start:end] for start, end in merged(text, spans))


def is_same(first: str, second: str) -> bool:
    """Tell whether two texts are equal but for white space, such as line ends in annotations."""
    return first == second or first.split() == second.split()
