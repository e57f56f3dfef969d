"""Narrower: a mention that is no name is linked to its head, where only qualifiers are left aside.

"Severe COPD" is COPD, and more: the link says that the mention is narrower than the concept. Before
its head a mention is read in full: "LV hypertrophy".
"""

from collections.abc import Sequence
from dataclasses import replace

from rapidfuzz.distance import OSA

from ..text.any_order import name_words
from ..text.identifiers import is_identified
from ..text.lexicon import Lexicon
from ..text.normalisation import is_short_form, key
from ..text.qualifiers import heads
from ..text.written_forms import in_full
from ..types import Candidate, Mention
from .decision import BELOW_THRESHOLD, NOTHING_FOUND, Decision, is_believed, is_named
from .prepare import bare_mention

NARROWER = "narrower"
_SCORE_SHARE = 0.9  # of the score of the head
# Of the probability of the head: of gold mentions, 3 of 4 such links are right.
_HEAD_SHARE = 0.8
# Of the probability of the name that is meant: over the HPO, of the spans that GSC-2024 and GSC+
# annotate, 98.9 and 91.1 % are right that are a name, and 81.4 and 77.8 % said in other words.
_FORM_SHARE = 0.85
_SLIP = 2  # letters that differ between two spellings of one word


def heads_of(
    mentions: Sequence[Mention], decisions: Sequence[Decision], lexicon: Lexicon
) -> dict[int, list[Mention]]:
    """Make mentions of the heads of those that are NIL, or linked to what they are no name of.

    RETURNS (Dict[int, List[Mention]]): by the position of the mention, the mention read in full,
        if it has no long form, and its heads, longest first, each read in full, too.
    """
    by_position: dict[int, list[Mention]] = {}
    for position, (mention, decision) in enumerate(zip(mentions, decisions, strict=True)):
        best = decision.ranking[0] if decision.ranking else None
        is_sure = best is not None and (is_named(best) or is_identified(best.scores))
        is_open = decision.reason in ("", NOTHING_FOUND, BELOW_THRESHOLD) and not decision.parts
        if is_open and not is_sure and not mention.verbatim:
            text = " ".join((mention.long_form or mention.text).split())
            wholes = () if mention.long_form else in_full(text, lexicon.language)
            read = [mention._replace(long_form=whole) for whole in wholes]
            for head in heads(text):
                bare = bare_mention(head, mention.label, lexicon)
                wholes = in_full(head, lexicon.language)
                read += [bare, *(bare._replace(long_form=whole) for whole in wholes)]
            if read:
                by_position[position] = read
    return by_position


def linked_by_head(
    whole: Decision,
    head: Decision,
    threshold: float | None,
    is_whole: bool = False,
) -> Decision:
    """Make the decision on a mention from that on its whole, and from that on its head.

    threshold (Optional[float]): the least probability of a link, see `is_believed`.
    is_whole (bool): whether the head is the mention itself, read in full.
    """
    best = head.chosen
    if best is None or best.match or not is_named(best):
        return whole
    if is_whole:
        best = _less_sure(best, _FORM_SHARE)
        others = [candidate for candidate in head.ranking if candidate.row != best.row]
        return head._replace(chosen=best, ranking=[best, *others])
    if (link := whole.chosen) is not None:
        if link.row != best.row:
            return whole
        link = replace(link, match=NARROWER)
        return whole._replace(chosen=link, ranking=[link, *whole.ranking[1:]])
    best = _of_head(best)
    if not is_believed(best, threshold):
        return whole
    others = [candidate for candidate in whole.ranking if candidate.row != best.row]
    return Decision(best, [best, *others][: max(len(whole.ranking), 1)], "", head.tied)


def said_narrower(mention: Mention, whole: Decision) -> Decision:
    """Say that a mention is narrower where its given meaning is its end: "pain" of "bone pain".

    What is said in other words is less probable than the name that is its meaning:
    "febrile" than "fever", "malformed kidneys" than "renal anomaly".
    """
    text, meaning = mention.text.casefold(), mention.long_form.casefold()
    if not meaning or whole.chosen is None or whole.parts:
        return whole
    rest = text.removesuffix(meaning)
    if rest != text and (rest[-1:].isspace() or rest.isalpha()):
        best = _of_head(whole.chosen)
    elif (_is_form(text, meaning) and not mention.text.isupper()) or _is_said_otherwise(
        mention.text, mention.long_form
    ):
        best = _less_sure(whole.chosen, _FORM_SHARE)
    else:
        return whole
    return whole._replace(chosen=best, ranking=[best, *whole.ranking[1:]])


def _is_form(text: str, meaning: str) -> bool:
    # Short forms have other letters than their meaning.
    return text[:2] == meaning[:2] and text.isalpha() and key(text) != key(meaning)


def _is_said_otherwise(text: str, meaning: str) -> bool:
    """Tell whether as many words of a meaning are others; short forms and slips are none."""
    written, meant = (set(name_words(words)) for words in (text, meaning))
    missing, added = written - meant, meant - written
    if not 0 < len(missing) == len(added) or len(written) < 2:
        return False
    if any(map(is_short_form, text.split())):
        return False
    return all(min(OSA.distance(word, other) for other in added) > _SLIP for word in missing)


def _of_head(best: Candidate) -> Candidate:
    score = best.score * _SCORE_SHARE
    return replace(_less_sure(best, _HEAD_SHARE), score=score, match=NARROWER)


def _less_sure(best: Candidate, share: float) -> Candidate:
    """Take a share of a probability; what the calibrator recommends to link stays so."""
    return best if best.prob is None else replace(best, prob=best.prob * share)
