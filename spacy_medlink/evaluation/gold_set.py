"""GoldSet: gold mentions with their right concepts in a knowledge base."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from ..errors import Errors, MedlinkError
from ..kb import KnowledgeBase
from ..kb.gold import GoldDocument, GoldMention, read_gold
from ..kb.resolve import UNKNOWN, Found, find_ids
from ..linking.prepare import Document, Place, prepare
from ..text.lexicon import Lexicon
from ..types import BadLine, Mention
from ..util.files import sha256_of
from .protocols import split_composite

Prepare = Callable[[Document, str], list[Mention]]
"""Of a document and its language, its mentions."""


class Case(NamedTuple):
    """A gold mention as the linker takes it, with the rows of the right concepts.

    doc (str): the document's number in the file. doc_id (str): its id there.
    parts (Tuple[Mention, ...]): to look up: the mention, or the parts of a composite one.
    line (int): of the file.
    """

    mention: Mention
    right: frozenset[int]
    gold: GoldMention
    doc: str
    lang: str
    doc_id: str = ""
    parts: tuple[Mention, ...] = ()
    line: int = 0


@dataclass
class GoldSet:
    """The documents of a gold file, held in memory.

    found (Dict[str, Found]): the concepts of each gold id.
    mismatches (List[BadLine]): mentions whose text differs from the text at their offsets.
    repeated (List[BadLine]): documents with the id of an earlier one.
    """

    path: Path
    documents: list[GoldDocument]
    found: dict[str, Found]
    mismatches: list[BadLine] = field(default_factory=list)
    repeated: list[BadLine] = field(default_factory=list)

    def rows(self, mention: GoldMention) -> frozenset[int]:
        """List the concept rows that are right for a mention."""
        row_sets = (self.found[id].rows for id in mention.ids if id in self.found)
        return frozenset(row for rows in row_sets for row in rows)

    @property
    def ids(self) -> set[str]:
        """The ids of all mentions."""
        return {
            id for document in self.documents for mention in document.mentions for id in mention.ids
        }

    @property
    def sha256(self) -> str:
        """The checksum of the file."""
        return sha256_of(self.path)

    def over(self, kb: KnowledgeBase) -> "GoldSet":
        """Find the ids of the same documents in another knowledge base."""
        return replace(self, found=find_ids(kb, self.ids))

    def ways(self) -> dict[str, int]:
        """Count the occurrences of gold ids by the way they were found."""
        counts = Counter(
            self.found[id].way if id in self.found else UNKNOWN
            for document in self.documents
            for mention in document.mentions
            for id in mention.ids
        )
        return dict(sorted(counts.items()))

    def cases(
        self, preparing: Prepare | None = None, split_composites: bool = False
    ) -> Iterator[Case]:
        """Stream the mentions, as a linker prepares them.

        preparing (Optional[Prepare]): makes the mentions of a document in a language; default: with
            the document's own definitions, without a lexicon.
        split_composites (bool): split mentions that name several concepts.
        """
        for at, document in enumerate(self.documents):
            # Ids of documents need not be unique, but their numbers in the file are. Mentions
            # without a document belong together if they have the same id.
            bare = document.text is None and len(document.mentions) == 1
            doc = f"id {document.doc_id}" if bare else str(at)
            places = [
                Place(mention.text, mention.start, mention.end, mention.type)
                for mention in document.mentions
            ]
            read = Document(document.text or "", places)
            mentions = (preparing or prepared_alone)(read, document.lang)
            for gold, mention in zip(document.mentions, mentions, strict=True):
                parts = _parts(mention, gold) if split_composites else (mention,)
                yield Case(
                    mention, self.rows(gold), gold, doc, document.lang, document.doc_id, parts,
                    document.line,
                )  # fmt: skip


def prepared_alone(document: Document, lang: str) -> list[Mention]:
    """Prepare a document without a lexicon."""
    return prepare(document, Lexicon())


def load_gold(
    path: str | Path,
    kb: KnowledgeBase,
    strict: bool = False,
    scheme: str = "",
    nil_only: bool = False,
) -> GoldSet:
    """Read a gold file and find its ids in a knowledge base.

    strict (bool): raise if a mention differs from its offsets, or an id of documents recurs.
    scheme (str): the vocabulary of the gold ids; "" looks them up in all.
    nil_only (bool): accept a file in which every mention is NIL.
    RAISES (MedlinkError): E107, E401-E404, E403 for the file, E407 when every mention is NIL.
    """
    mismatches: list[BadLine] = []
    repeated: list[BadLine] = []
    read = read_gold(path, strict=strict, mismatches=mismatches, repeated=repeated)
    gold = GoldSet(Path(path), list(read), {}, mismatches, repeated)
    if not (gold.ids or nil_only):
        raise without_ids(path)
    gold.found = find_ids(kb, gold.ids, scheme)
    return gold


def _parts(mention: Mention, gold: GoldMention) -> tuple[Mention, ...]:
    """Split a composite mention, by its long form where the document defines one."""
    texts = split_composite(mention.long_form or mention.text, len(gold.ids))
    if len(texts) < 2:
        return (mention,)
    return tuple(
        mention._replace(text=text, long_form="", expansions=(), identifiers=(), verbatim=())
        for text in texts
    )


def without_ids(path: str | Path) -> MedlinkError:
    """Make the error for a file in which every mention is NIL."""
    what = "mention with a gold id to look for: all are NIL"
    return Errors.nothing_there(path=path, what=what, remedy="Use a file whose mentions have ids.")
