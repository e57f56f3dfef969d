"""The data of bulk annotation: documents, and the parts of a run."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

PART_CHARACTERS = 2_000_000


class Document(NamedTuple):
    """A document of the input.

    place (str): its place, such as "line 12", which messages give instead of its text.
    problem (str): why it cannot be linked; "" when it can.
    """

    id: str
    text: str
    place: str
    problem: str = ""


class Part(NamedTuple):
    """Documents that follow each other in the input, linked and written together."""

    number: int
    documents: list[Document]


class Done(NamedTuple):
    """A part that is written.

    linked, set_aside (int): documents. mentions, links (int): of the linked documents; mentions
        without a link are NIL.
    """

    number: int
    linked: int
    set_aside: int
    mentions: int = 0
    links: int = 0

    @property
    def documents(self) -> int:
        """All documents of the part."""
        return self.linked + self.set_aside


class Repeated(NamedTuple):
    """Ids that several documents of a run have.

    documents (int): number of documents with the id of an earlier one. examples (Tuple[str, ...]):
        some of the ids.
    """

    documents: int = 0
    examples: tuple[str, ...] = ()


def parts_of(documents: Iterable[Document], size: int) -> Iterator[Part]:
    """Cut a stream into parts, at the same places every time.

    size (int): documents a part, fewer where their text is long, so that memory stays bounded.
    """
    nth, characters = 0, 0
    waiting: list[Document] = []
    for document in documents:
        waiting.append(document)
        characters += len(document.text)
        if len(waiting) >= size or characters >= PART_CHARACTERS:
            yield Part(nth, waiting)
            nth, characters, waiting = nth + 1, 0, []
    if waiting:
        yield Part(nth, waiting)
