"""Corrections: gold mentions that act at once, as names and memory of an overlay."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..errors import Errors, MedlinkError
from ..evaluation.gold_set import Case, GoldSet
from ..kb import KnowledgeBase
from ..kb.curation import UNKNOWN_ID, Curation, Rule
from ..kb.gold import GoldDocument, GoldMention, dump_gold, read_gold
from ..kb.resolve import OWN, Found
from ..retrieval.memory import Remembered
from ..text.context.sections import sentence_starts
from ..util.json_text import read_json
from .memory import key_of, learn_lines
from .mention_names import names_of_mentions

_AROUND = 300  # characters of a sentence that are kept before and behind a mention
_KEYS = frozenset(("mention", "mentions"))


class InForce(NamedTuple):
    """The names and the memory that corrections give a knowledge base.

    idle (List[str]): the lines that change nothing, with the reason.
    """

    curation: Curation
    remembered: list[Remembered]
    idle: list[str]


@dataclass(frozen=True)
class Corrections:
    """The documents of a file of corrections, which is a gold file.

    path (Path): of the file. documents (Tuple[GoldDocument, ...]): in the order of the file.
    """

    path: Path
    documents: tuple[GoldDocument, ...]

    @classmethod
    def read(cls, path: Path) -> "Corrections":
        """Read a file. RAISES (MedlinkError): E107, E401 as `read_gold`."""
        try:
            return cls(path, tuple(read_gold(path)))
        except MedlinkError as error:
            if error.code != Errors.no_gold(path=path).code:
                raise
            return cls(path, ())

    def over(self, kb: KnowledgeBase) -> InForce:
        """Find the corrections in force; the last one wins for mentions with the same key.

        Ids are those of the knowledge base; retired ones are followed.

        `medlink learn` counts votes instead, but a user wants to see a correction act at once.
        """
        ids = {
            id for document in self.documents for mention in document.mentions for id in mention.ids
        }
        # Without codes: to read those of a large terminology takes too long for a correction.
        followed = {id: kb.resolve(id) for id in ids}
        by_id = {
            id: Found(frozenset({kb.row_of(resolved)}), OWN)
            for id, resolved in followed.items()
            if resolved
        }
        gold = GoldSet(self.path, list(self.documents), by_id)
        lines = (document.line for document in gold.documents for _ in document.mentions)
        last: dict[str, Case] = {}
        idle = []
        for case, line in zip(gold.cases(), lines, strict=True):
            if case.gold.ids and not case.right:
                idle.append(f"line {line}: {UNKNOWN_ID}")
            else:
                last[key_of(case)] = case
        cases = list(last.values())
        rules = [
            Rule(0, "add", name.text, kb.brief_at(row)[0], name.lang)
            for row, names in names_of_mentions(cases, kb).items()
            for name in names
        ]
        return InForce(Curation(rules), learn_lines(cases, kb), idle)

    def dump(self) -> str:
        """Write them as bare mentions, so that a saved pipeline holds no text of notes."""
        bare = (
            (GoldMention(long or gold.text, gold.ids, type=gold.type), case.lang)
            for case in GoldSet(self.path, list(self.documents), {}).cases()
            for gold, long in [(case.gold, case.mention.long_form)]
        )
        return dump_gold(
            GoldDocument(str(line), None, lang, (mention,), line)
            for line, (mention, lang) in enumerate(bare, 1)
        )


def is_gold(path: Path) -> bool:
    """Tell a gold file from one of curation rules, by its first line that is not empty.

    RAISES (OSError): when it cannot be read.
    """
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        first = next((line for line in file if line.strip()), "")
    try:
        data = read_json(first)
    except ValueError:
        return False
    return isinstance(data, dict) and not _KEYS.isdisjoint(data)


def excerpt(text: str, start: int, end: int, long_form: str) -> tuple[str, int]:
    """Cut the sentence of a mention out of its document, to keep no more text than fitting needs.

    Rerankers read 64 characters around a mention, and an abbreviation needs its definition.
    RETURNS (Tuple[str, int]): the text, and the number to subtract from offsets in the document.
    """
    starts = [0, *sentence_starts(text), len(text)]
    begin = max(starts[bisect_right(starts, start) - 1], start - _AROUND)
    stop = min(starts[min(bisect_left(starts, end), len(starts) - 1)], end + _AROUND)
    sentence = text[begin:stop]
    begin += len(sentence[: start - begin]) - len(sentence[: start - begin].lstrip())
    sentence = text[begin:stop].rstrip() if stop > end else text[begin:end]
    if long_form and long_form not in sentence:
        definition = f"{long_form} ({text[start:end]}).\n"
        return definition + sentence, begin - len(definition)
    return sentence, begin
