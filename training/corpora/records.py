"""Documents and mentions of a corpus as lines of a gold file."""

from typing import TypedDict


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
