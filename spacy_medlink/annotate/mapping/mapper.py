"""Mapper: maps terms to concepts, by shared names and shared codes."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ...kb import KnowledgeBase
from ...kb.readers.xrefs import code_of
from ...kb.rekey import scheme_of
from ...kb.resolve import IdResolver
from ...linking import Linker
from ...linking.decision import Decision
from ...linking.prepare import Document, Place
from ...retrieval.concepts import MEMORY
from ...text.normalisation import key
from ...types import CodeMap, Mention
from ...util.locks import Lru
from .terms import Term

EXACT, BROADER, NARROWER, CLOSE, RELATED = "exact", "broader", "narrower", "close", "related"
_INVERSE = {BROADER: NARROWER, NARROWER: BROADER}
UNCHECKED = "UNCHECKED"
_TOGETHER = 1024  # names that are linked at once
_KEPT = 65_536
_HIGHEST = 64  # steps up the hierarchy


class Target(NamedTuple):
    """A concept that a term is, or may be, mapped to.

    match (str): relation of the concept to the term. matched (str): the concept's name found.
    prob (Optional[float]): probability of being right, if the assets have a calibrator and the
        concept is the first candidate. score (Optional[float]): None where only codes match.
    """

    id: str
    name: str
    match: str
    matched: str = ""
    prob: float | None = None
    score: float | None = None


class Mapping(NamedTuple):
    """The mapping of a term.

    targets (Tuple[Target, ...]): usually one; () for none. others (Tuple[Target, ...]): further
        candidates. status, comment (str): of the reviewers. extra: (header, cell) of each column
        that reviewers added.
    """

    term: Term
    targets: tuple[Target, ...] = ()
    others: tuple[Target, ...] = ()
    status: str = UNCHECKED
    comment: str = ""
    extra: tuple[tuple[str, str], ...] = ()


class _Answer(NamedTuple):
    """A concept that the linker found for a name.

    is_link (bool): whether it is the link. is_name (bool): whether it has the name, or corrections
        say so. is_head (bool): whether it is linked to the name without its qualifiers alone.
    """

    row: int
    matched: str
    prob: float | None
    score: float
    is_link: bool
    is_name: bool
    is_head: bool


class Mapper:
    """A mapper of terms to the concepts of a linker's knowledge base.

    A name is linked as a document of its own, followed by the context; equal names are linked
    once. A term with several names gets the concept that most of the names are linked to. Concepts
    that share a code with the term go before all others.

    Relation of a concept to the term (`Target.match`):
        exact: it has the term's name (without case, accents and plural), or corrections say so, or
            a code says so.
        broader, narrower: a code says so; it is above or below an exact concept in the hierarchy;
            or it is the link of the name without its qualifiers (broader).
        close: it is the link, or shares a code without a relation.
        related: it is a further candidate.

    linker (Linker): has the knowledge base. k (int): candidates of a term, at most.
    """

    def __init__(self, linker: Linker, k: int = 5) -> None:
        assert linker.parts.kb is not None
        self.kb: KnowledgeBase = linker.parts.kb
        self._linker, self._k = linker, k
        self._resolver = IdResolver(self.kb)
        self._known: Lru[Mention, tuple[_Answer, ...]] = Lru(_KEPT)
        self._above = lru_cache(_KEPT)(self._read_above)

    def map(self, terms: Sequence[Term]) -> list[Mapping]:
        """Map terms; more terms at once need fewer calls of the tiers."""
        mentions = [self._mentions(term) for term in terms]
        found = self._answers([one for own in mentions for one in own])
        return [
            self._mapping(term, [found[one] for one in own])
            for term, own in zip(terms, mentions, strict=True)
        ]

    def _mentions(self, term: Term) -> list[Mention]:
        context = "; ".join(filter(None, term.context))
        return [
            self._linker.prepare(
                Document(f"{name}\n{context}" if context else name, [Place(name, 0, len(name))])
            )[0]
            for name in (term.name, *term.names)
        ]

    def _answers(self, mentions: Sequence[Mention]) -> dict[Mention, tuple[_Answer, ...]]:
        found = {one: self._known.get(one) for one in mentions}
        new = [one for one, known in found.items() if known is None]
        for start in range(0, len(new), _TOGETHER):
            batch = new[start : start + _TOGETHER]
            for mention, decision in zip(batch, self._linker.decide(batch), strict=True):
                answers = found[mention] = tuple(self._read(mention, decision))
                self._known.put(mention, answers)
        return {one: answers or () for one, answers in found.items()}

    def _read(self, mention: Mention, decision: Decision) -> Iterator[_Answer]:
        own, best = key(mention.text), decision.answers[: self._k]
        names = self.kb.texts_at([one.name_row for one in best])
        for one, name in zip(best, names, strict=True):
            is_link = decision.link is not None and one.row == decision.link.row
            yield _Answer(
                one.row, name, one.prob, one.score, is_link,
                MEMORY in one.scores or key(name) == own, bool(one.match),
            )  # fmt: skip

    def _mapping(self, term: Term, found: Sequence[Sequence[_Answer]]) -> Mapping:
        by_row: dict[int, list[_Answer]] = {}
        for answers in found:
            for one in answers:
                by_row.setdefault(one.row, []).append(one)
        coded = self._coded(term.codes)
        named = [row for row, own in by_row.items() if any(one.is_name for one in own)]
        exact = frozenset(named) | {row for row, relation in coded.items() if relation == EXACT}
        order = sorted(  # stable: else in the linker's order
            dict.fromkeys((*by_row, *coded)),
            key=lambda row: (
                -sum(one.is_link for one in by_row.get(row, ())),
                -sum(one.is_name for one in by_row.get(row, ())),
            ),
        )
        chosen = self._chosen(order, by_row, coded)
        targets = [self._target(row, by_row.get(row, ()), coded, exact, True) for row in chosen]
        others = [
            self._target(row, by_row.get(row, ()), coded, exact, False)
            for row in order
            if row not in chosen
        ]
        return Mapping(term, tuple(targets), tuple(others[: max(0, self._k - len(targets))]))

    def _chosen(
        self, order: Sequence[int], by_row: dict[int, list[_Answer]], coded: dict[int, str]
    ) -> list[int]:
        """Choose the concepts of a term: by codes, then by names."""
        linked = [row for row in order if any(one.is_link for one in by_row.get(row, ()))]
        if not coded:
            return linked[:1]
        said = [row for row in order if coded.get(row) == EXACT]
        among = said or [row for row in order if row in coded]
        # A code that several concepts share stands for the concept with the name, if there is one.
        return [row for row in linked if row in among][:1] or among

    def _target(
        self,
        row: int,
        answers: Sequence[_Answer],
        coded: dict[int, str],
        exact: frozenset[int],
        is_chosen: bool,
    ) -> Target:
        id, name, _ = self.kb.brief_at(row)
        best = max(answers, key=lambda one: (one.is_name, one.is_link, one.score), default=None)
        if coded.get(row):
            match = coded[row]
        elif row in exact:
            match = EXACT
        elif exact & self._above(row):
            match = NARROWER
        elif any(row in self._above(one) for one in exact) or any(one.is_head for one in answers):
            match = BROADER
        else:
            match = CLOSE if is_chosen or row in coded else RELATED
        if best is None:
            return Target(id, name, match)
        return Target(id, name, match, best.matched, best.prob, best.score)

    def _coded(self, codes: Iterable[CodeMap]) -> dict[int, str]:
        """Find the concepts that share a code with a term, and their relations to the term."""
        found: dict[int, str] = {}
        for code in codes:
            wanted = code_of(f"{code.vocabulary}:{code.code}")
            if wanted is None or wanted[0] == "URL":
                continue
            for row in sorted(self._resolver.rows(":".join(wanted))):
                said = self._relation(row, *wanted)
                if said is not None and found.get(row) != EXACT:
                    found[row] = _between(code.relation, said) or found.get(row, "")
        return found

    def _relation(self, row: int, vocabulary: str, code: str) -> str | None:
        """Find the relation of a code to a concept; None where only another vocabulary has it."""
        id = self.kb.brief_at(row)[0]
        said = {
            one.relation
            for one in self.kb.maps(id)
            if one.code == code and code_of(f"{one.vocabulary}:x") == (vocabulary, "x")
        }
        own = code_of(id) or code_of(f"{scheme_of(self.kb[id])}:{id}")
        if EXACT in said or (vocabulary, code) == own:
            return EXACT
        if self.kb.resolve(f"{vocabulary}:{code}") == id:  # a retired id that this id replaces
            return ""
        return min(said - {""}, default="") if said else None

    def _read_above(self, row: int) -> frozenset[int]:
        found, level = set[int](), {row}
        for _ in range(_HIGHEST):
            level = {up for one in level for up in self.kb.parents_at(one)} - found
            found |= level
            if not level:
                break
        return frozenset(found - {row})


def _between(to_term: str, to_concept: str) -> str:
    """Get the relation of a concept to a term, by their code's relations; "" where not known."""
    if to_concept == EXACT:
        return to_term
    if to_term == EXACT:
        return _INVERSE.get(to_concept, to_concept)
    return RELATED if to_term and to_concept else ""
