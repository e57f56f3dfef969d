"""Narrower: a mention that is no name is linked to its head, where only qualifiers are left aside.

"Severe COPD" is COPD, and more: the link says that the mention is narrower than the concept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from ..text.identifiers import is_identified
from ..text.qualifiers import heads
from ..types import Candidate, Mention
from .decision import BELOW_THRESHOLD, NOTHING_FOUND, Decision, is_believed, wanted_of
from .forms import Forms
from .outside import is_named
from .prepare import bare_mention

if TYPE_CHECKING:
    from ..retrieval.filters import Only
    from .parts import Parts
    from .retrieval import Retrieval
    from .scopes import Scope
    from .settings import LinkSettings

NARROWER = "narrower"
# Of the probability and score of the head: of gold mentions, 3 of 4 such links are right. The
# probability stays at the calibrator's threshold where the head reaches that, since many names of
# a large terminology do so only just.
SHARE = 0.9


class Links(Protocol):
    """A linker as far as heads are linked with it; the arguments are those of `Linker`."""

    @property
    def parts(self) -> "Parts":
        """The models and tiers."""

    @property
    def settings(self) -> "LinkSettings":
        """How to link."""

    @property
    def retrieval(self) -> "Retrieval":
        """The retrieval of candidates."""

    def scope(self, label: str, only: "Only" = None) -> "Scope":
        """Get the scope of an entity label."""

    def decide(
        self, mentions: Sequence[Mention], only: "Only" = None, force: bool | None = None
    ) -> list[Decision]:
        """Link mentions."""


def link_heads(
    linker: Links,
    mentions: Sequence[Mention],
    decisions: Sequence[Decision],
    only: "Only" = None,
    force: bool = False,
) -> dict[int, Decision]:
    """Link the heads of mentions that are NIL, and say where a link is only that of the head.

    only, force: as for `Linker.decide`.
    RETURNS (Dict[int, Decision]): the new decisions, by the position of the mention.
    """
    asked: dict[int, list[Mention]] = {}
    if linker.retrieval.tiers.exact is None:
        return {}
    for place, (mention, decision) in enumerate(zip(mentions, decisions, strict=True)):
        is_open = decision.reason in ("", NOTHING_FOUND, BELOW_THRESHOLD) and not decision.parts
        if is_open and not mention.verbatim and not any(map(_is_sure, decision.ranking[:1])):
            texts = heads(" ".join((mention.long_form or mention.text).split()))
            lexicon = linker.parts.lexicon
            if texts:
                asked[place] = [bare_mention(text, mention.label, lexicon) for text in texts]
    chosen = _named(linker, asked, only)
    decided = linker.decide(list(chosen.values()), only, force) if chosen else []
    return {
        place: _linked(linker, decisions[place], own.ranking[0], own.tied)
        for place, own in zip(chosen, decided, strict=True)
        if own.chosen and is_named(own.chosen) and not own.chosen.match
    }


def _named(
    linker: Links, asked: Mapping[int, Sequence[Mention]], only: "Only"
) -> dict[int, Mention]:
    """Choose the longest head of each mention that is a name by the exact tier."""
    forms: dict[str, dict[str, None]] = {}
    for head in (one for own in asked.values() for one in own):
        forms.setdefault(head.label, {}).update(dict.fromkeys(Forms.of(head).all))
    exact = linker.retrieval.rank_exact
    found = {label: exact(list(own), linker.scope(label, only), 1) for label, own in forms.items()}
    named = {
        place: [head for head in own if any(found[head.label][f] for f in Forms.of(head).all)]
        for place, own in asked.items()
    }
    return {place: own[0] for place, own in named.items() if own}


def _linked(linker: Links, whole: Decision, best: Candidate, tied: tuple[int, ...]) -> Decision:
    """Make the decision on a mention from that on its whole, and from the link of its head."""
    if (link := whole.chosen) is not None:
        if link.row != best.row:
            return whole
        link = replace(link, match=NARROWER)
        return whole._replace(chosen=link, ranking=[link, *whole.ranking[1:]])
    calibrator, prob = linker.parts.calibrator, best.prob
    if prob is not None and calibrator is not None:
        prob = max(prob * SHARE, min(prob, calibrator.threshold))
    best = replace(best, score=best.score * SHARE, prob=prob, match=NARROWER)
    if not is_believed(best, wanted_of(linker.settings.threshold, calibrator)):
        return whole
    others = [one for one in whole.ranking if one.row != best.row]
    return Decision(best, [best, *others][: max(len(whole.ranking), 1)], "", tied)


def _is_sure(best: Candidate) -> bool:
    return is_named(best) or is_identified(best.scores)
