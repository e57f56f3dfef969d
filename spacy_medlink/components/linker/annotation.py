"""Links of mentions as plain data."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ...types import Candidate

if TYPE_CHECKING:
    from ...kb import KnowledgeBase
    from ...kb.resolve import CodeChooser
    from ...linking.decision import Decision, Part

_Brief = tuple[str, str, tuple[str, ...]]

NIL = "NIL"
_FACTS_KEPT = 16_384  # as many as rankings by default, which keep the facts of their candidates
_DIGITS = 6


class Link(NamedTuple):
    """A link, as it is written on a span.

    kb_ents: ids and scores of the link and, behind it, of what may be meant as well; [] for NIL.
    ambiguous (List[str]): ids that differ only in their order, the link's among them; or [].
    reason (str): why it is NIL. parts (List[Dict]): of a composite mention, each with `text`, `id`,
        `cui`, `name`, `matched`, `score`; the first is the link. ambiguous_codes (List[str]): codes
        that `cui` was chosen from, where no name tells them apart, the chosen one first; or [].
    """

    id: str
    cui: str | None
    name: str | None
    kb_ents: list[list[Any]]
    candidates: list[dict[str, Any]]
    codes: dict[str, list[str]]
    ambiguous: list[str]
    reason: str
    parts: list[dict[str, Any]]
    ambiguous_codes: list[str]


class _Linked(NamedTuple):
    """Facts of a concept that are needed only if it is linked."""

    id: str
    name: str
    cui: str | None
    codes: dict[str, tuple[str, ...]]
    ambiguous_codes: tuple[str, ...]


class LinkWriter:
    """The maker of links from decisions, with the facts of their concepts in the knowledge base.

    kb (KnowledgeBase): of the candidates. cui_scheme (Optional[str]): see MedicalLinker.
    """

    def __init__(self, kb: "KnowledgeBase", cui_scheme: str | None) -> None:
        self.kb, self.cui_scheme = kb, cui_scheme
        # Tuples of texts, since the garbage collector does not follow them.
        self._brief: Callable[[int], _Brief] = lru_cache(_FACTS_KEPT)(kb.brief_at)
        self._name: Callable[[int], str] = lru_cache(_FACTS_KEPT)(kb.text_at)
        self._linked: Callable[[int, int], _Linked] = lru_cache(_FACTS_KEPT)(self._read)
        self._chooser: CodeChooser | None = None

    def link(self, decision: "Decision") -> Link:
        """Make the link of a mention; of a composite one, of its parts."""
        if decision.parts:
            return self._composite(decision.parts)
        candidates = self.candidates(decision.ranking)
        tied = [self.id_of(row) for row in decision.tied] if decision.tied else []
        if decision.chosen is None:
            return Link(NIL, None, None, [], candidates, {}, tied, decision.reason, [], [])
        best = self._linked(decision.chosen.row, decision.chosen.name_row)
        codes = dict(zip(best.codes, map(list, best.codes.values()), strict=True))
        return Link(
            best.id, best.cui, best.name, _pairs(candidates), candidates, codes, tied, "",
            [], [*best.ambiguous_codes],
        )  # fmt: skip

    def candidates(self, ranking: Sequence[Candidate]) -> list[dict[str, Any]]:
        """Make plain dicts of candidates."""
        written = []
        for candidate in ranking:
            # The linker remembers candidates, so the constant part of each is made once.
            plain = candidate.plain
            if plain is None:
                plain = candidate.plain = self._plain(candidate)
            id, name, types, matched, score, scores = plain
            item = {
                "id": id,
                "name": name,
                "matched": matched,
                "score": score,
                "prob": candidate.prob,
                "scores": scores.copy(),
                "ranks": candidate.ranks.copy(),
                "types": [*types],
            }
            if candidate.match:
                item["match"] = candidate.match
            written.append(item)
        return written

    def id_of(self, row: int) -> str:
        """Get the id of a concept."""
        return self._brief(row)[0]

    def _plain(self, candidate: Candidate) -> tuple[Any, ...]:
        scores = {tier: round(value, _DIGITS) for tier, value in candidate.scores.items()}
        matched, score = self._name(candidate.name_row), round(candidate.score, _DIGITS)
        return (*self._brief(candidate.row), matched, score, scores)

    def _composite(self, parts: "Sequence[Part]") -> Link:
        """Make the link of the first part; candidates begin with the best of each part."""
        best = self.candidates([part.ranking[0] for part in parts])
        others = {
            item["id"]: item
            for part in parts for item in self.candidates(part.ranking[1:])
        }  # fmt: skip
        for item in best:
            others.pop(item["id"], None)
        ordered = [*best, *sorted(others.values(), key=lambda item: (-item["score"], item["id"]))]
        facts = [self._linked(part.ranking[0].row, part.ranking[0].name_row) for part in parts]
        tied = [self.id_of(row) for row in parts[0].ranking[0].tied]
        return Link(
            facts[0].id, facts[0].cui, facts[0].name, _pairs(ordered),
            ordered, {vocabulary: list(codes) for vocabulary, codes in facts[0].codes.items()},
            tied, "",
            [
                {"text": part.text, "id": fact.id, "cui": fact.cui, "name": fact.name,
                 "matched": item["matched"], "score": item["score"]}
                for part, fact, item in zip(parts, facts, best, strict=True)
            ],
            [*facts[0].ambiguous_codes],
        )  # fmt: skip

    def _read(self, row: int, name_row: int) -> _Linked:
        id, name, _ = self._brief(row)
        codes = self.kb.codes_at(row)
        if self.cui_scheme is None:
            return _Linked(id, name, id, codes, ())
        cui, among = self._codes.choose(row, codes, self.cui_scheme, self._name(name_row))
        return _Linked(id, name, cui, codes, among)

    @property
    def _codes(self) -> "CodeChooser":
        if self._chooser is None:
            from ...assets.starter import code_chooser

            self._chooser = code_chooser(self.kb)
        return self._chooser


def _pairs(candidates: Sequence[dict[str, Any]]) -> list[list[Any]]:
    return [[one["id"], one["score"]] for one in candidates]
