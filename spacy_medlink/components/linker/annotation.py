"""Links of mentions as plain data."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ...types import Candidate, Data

if TYPE_CHECKING:
    from ...kb import KnowledgeBase
    from ...kb.resolve import CodeChooser
    from ...linking.decision import Decision, Part

NIL = "NIL"
_CONCEPTS_KEPT = 16_384  # as many as rankings by default, which keep their candidates' dicts
_DIGITS = 6


class Link(NamedTuple):
    """A link, as it is written on a span.

    candidates (List[Candidate]): what was considered, best first; a span gets dicts of them.
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
    candidates: list[Any]
    codes: dict[str, list[str]]
    ambiguous: list[str]
    reason: str
    parts: list[Data]
    ambiguous_codes: list[str]

    def plain(self) -> "Link":
        """Make a copy that has dicts as candidates, as spans do: a stored Doc can hold them."""
        return self._replace(candidates=[plain(candidate) for candidate in self.candidates])


class _Linked(NamedTuple):
    """What is read of a concept only if it is linked."""

    id: str
    name: str
    cui: str | None
    codes: dict[str, tuple[str, ...]]
    ambiguous_codes: tuple[str, ...]


class LinkWriter:
    """The maker of links from decisions, with what the knowledge base says of concepts.

    kb (KnowledgeBase): of the candidates. cui_scheme (Optional[str]): see MedicalLinker.
    """

    def __init__(self, kb: "KnowledgeBase", cui_scheme: str | None) -> None:
        self.kb, self.cui_scheme = kb, cui_scheme
        self._linked: Callable[[int, int], _Linked] = lru_cache(_CONCEPTS_KEPT)(self._read)
        self._chooser: CodeChooser | None = None

    def link(self, decision: "Decision") -> Link:
        """Make the link of a mention; of a composite one, of its parts."""
        if decision.parts:
            return self._composite(decision.parts)
        candidates = self.candidates(decision.ranking)
        tied = self._ids(decision.tied) if decision.tied else []
        if decision.chosen is None:
            return Link(NIL, None, None, [], candidates, {}, tied, decision.reason, [], [])
        best = self._linked(decision.chosen.row, decision.chosen.name_row)
        codes = {vocabulary: list(codes) for vocabulary, codes in best.codes.items()}
        pairs = _pairs(candidates)
        among = [*best.ambiguous_codes]
        return Link(best.id, best.cui, best.name, pairs, candidates, codes, tied, "", [], among)

    def candidates(self, ranking: Sequence[Candidate]) -> list[Candidate]:
        """List the candidates of a ranking, with ids and texts."""
        # The linker remembers candidates: each is read once.
        if unread := [candidate for candidate in ranking if candidate.plain is None]:
            self._read_constants(unread)
        return [*ranking]

    def _read_constants(self, candidates: Sequence[Candidate]) -> None:
        """Read what no link changes of candidates: texts, and rounded scores."""
        briefs = self.kb.briefs_at([candidate.row for candidate in candidates])
        matched = self.kb.texts_at([candidate.name_row for candidate in candidates])
        for candidate, brief, name in zip(candidates, briefs, matched, strict=True):
            candidate.id, candidate.name, candidate.types = brief
            candidate.matched = name
            scores = {tier: round(value, _DIGITS) for tier, value in candidate.scores.items()}
            candidate.plain = round(candidate.score, _DIGITS), scores

    def _ids(self, rows: Sequence[int]) -> list[str]:
        return [brief[0] for brief in self.kb.briefs_at(rows)]

    def _composite(self, parts: "Sequence[Part]") -> Link:
        """Make the link of the first part; candidates begin with the best of each part."""
        best = self.candidates([part.ranking[0] for part in parts])
        others = {
            other.row: other
            for part in parts for other in self.candidates(part.ranking[1:])
        }  # fmt: skip
        for candidate in best:
            others.pop(candidate.row, None)
        ordered = [*best, *sorted(others.values(), key=lambda other: (-other.plain[0], other.id))]
        linked = [self._linked(part.ranking[0].row, part.ranking[0].name_row) for part in parts]
        first = linked[0]
        return Link(
            first.id, first.cui, first.name, _pairs(ordered),
            ordered, {vocabulary: list(codes) for vocabulary, codes in first.codes.items()},
            self._ids(parts[0].ranking[0].tied), "",
            [
                {"text": part.text, "id": concept.id, "cui": concept.cui, "name": concept.name,
                 "matched": candidate.matched, "score": candidate.plain[0]}
                for part, concept, candidate in zip(parts, linked, best, strict=True)
            ],
            [*first.ambiguous_codes],
        )  # fmt: skip

    def _read(self, row: int, name_row: int) -> _Linked:
        id, name, _ = self.kb.brief_at(row)
        codes = self.kb.codes_at(row)
        if self.cui_scheme is None:
            return _Linked(id, name, id, codes, ())
        cui, among = self._codes.choose(row, codes, self.cui_scheme, self.kb.text_at(name_row))
        return _Linked(id, name, cui, codes, among)

    @property
    def _codes(self) -> "CodeChooser":
        if self._chooser is None:
            from ...assets.starter import code_chooser

            self._chooser = code_chooser(self.kb)
        return self._chooser


def plain(candidate: Candidate) -> Data:
    """Make a dict of a candidate of a link, as spans have it; scores are rounded."""
    score, scores = candidate.plain
    item = {
        "id": candidate.id,
        "name": candidate.name,
        "matched": candidate.matched,
        "score": score,
        "prob": candidate.prob,
        "scores": scores.copy(),
        "ranks": candidate.ranks.copy(),
        "types": [*candidate.types],
    }
    if candidate.match:
        item["match"] = candidate.match
    return item


def _pairs(candidates: Sequence[Candidate]) -> list[list[Any]]:
    return [[candidate.id, candidate.plain[0]] for candidate in candidates]
