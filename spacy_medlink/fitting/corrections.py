"""Corrections: gold mentions that act at once, as rules and as a memory."""

from dataclasses import dataclass
from pathlib import Path

from ..errors import Errors, MedlinkError
from ..evaluation.gold_set import Case, GoldSet
from ..kb import KnowledgeBase
from ..kb.gold import GoldDocument, GoldMention, dump_gold, read_gold
from ..kb.resolve import OWN, Found
from ..kb.rules import ADD, Rule, Rules
from ..retrieval.memory import Remembered
from ..util.json_text import read_json
from .memory import key_of, votes_of

_KEYS = frozenset(("mention", "mentions"))


@dataclass(frozen=True)
class Corrections:
    """The documents of a file of corrections, which is a gold file.

    path (Path): of the file. documents (Tuple[GoldDocument, ...]): in the order of the file.
    """

    path: Path
    documents: tuple[GoldDocument, ...]

    def __len__(self) -> int:
        return len(self.documents)

    @classmethod
    def read(cls, path: Path) -> "Corrections":
        """Read a file. RAISES (MedlinkError): E107, E401 as `read_gold`."""
        try:
            return cls(path, tuple(read_gold(path)))
        except MedlinkError as error:
            if error.code != Errors.no_gold(path=path).code:
                raise
            return cls(path, ())

    def over(self, kb: KnowledgeBase) -> tuple[Rules, list[Remembered]]:
        """Make the rules and the memory; the last one wins for mentions with the same key.

        Ids are those of the knowledge base; retired ones are followed. A rule with an unknown id
        stands for a correction that changes nothing.

        `medlink learn` counts votes instead, but a user wants to see a correction act at once.
        """
        gold = GoldSet(self.path, list(self.documents), {})
        # Without codes: to read those of a large terminology takes too long for a correction.
        followed = ((id, kb.resolve(id)) for id in gold.ids)
        gold.found = {id: Found(frozenset({kb.row_of(own)}), OWN) for id, own in followed if own}
        last: dict[str, Case] = {}
        rules: list[Rule] = []
        for case in gold.cases():
            if case.gold.ids and not case.right:
                rules.append(Rule(case.line, ADD, case.gold.text, case.gold.ids[0]))
            else:
                last[key_of(case)] = case
        votes = votes_of(last.values(), kb)
        for id, names in votes.names()[0].items():
            rules += [Rule(0, ADD, name.text, id, name.lang) for name in names]
        return Rules(rules), votes.lines()

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
