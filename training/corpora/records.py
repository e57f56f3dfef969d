"""A corpus on its way: documents and mentions as their files give them, nothing checked yet."""

from pathlib import Path
from typing import NamedTuple

Span = tuple[int, int]


class Ids(NamedTuple):
    """What a mention is linked to; () is NIL.

    composite (bool): the mention means all of the ids together ("breast and ovarian cancer");
        otherwise each id alone is a right answer.
    """

    ids: tuple[str, ...] = ()
    composite: bool = False


class Mention(NamedTuple):
    """A mention.

    said (str): its text as the corpus writes it, "" when there are only offsets.
    spans (Tuple[Tuple[int, int], ...]): start and end of its pieces in the text, in characters;
        () when the corpus does not say.
    parts (Tuple[str, ...]): of a composite mention, what each id alone would be called.
    line (int): in its file, from 1; 0 when lines mean nothing there.
    """

    said: str
    spans: tuple[Span, ...] = ()
    link: Ids = Ids()
    type: str = ""
    parts: tuple[str, ...] = ()
    line: int = 0


class Document(NamedTuple):
    """A document; one that is only a list of mentions has no text, and may have no id.

    split (str): the part of the corpus that its publisher put it in, "" for none.
    path (Path): the file that it, or its annotation, came from.
    """

    doc_id: str
    text: str | None
    mentions: tuple[Mention, ...]
    path: Path
    lang: str = "en"
    split: str = ""
    line: int = 0
