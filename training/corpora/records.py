"""Documents and mentions: as the files of a corpus give them, and as gold mentions."""

from pathlib import Path
from typing import NamedTuple, TypedDict

Span = tuple[int, int]


class Ids(NamedTuple):
    """The gold ids of a mention; () is NIL.

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


class GoldMention(TypedDict, total=False):
    """A mention as `spacy_medlink.kb.gold` reads it.

    start, end (int): where it has one place. spans (List[List[int]]): where it has several.
    composite (bool): the ids belong together. parts (List[str]): a text for each of them.
    """

    start: int
    end: int
    spans: list[list[int]]
    mention: str
    ids: list[str]
    type: str
    composite: bool
    parts: list[str]


class GoldDocument(GoldMention, total=False):
    """A line of gold mentions: a document, or a bare mention. split (str): the publisher's."""

    doc_id: str
    lang: str
    split: str
    text: str
    mentions: list[GoldMention]
