"""Explanation: why a mention is linked as it is, as data and as text."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from ..types import Data

_DECIDED = {
    "identifier": "the document writes its identifier",
    "memory": "corrections say so",
    "exact": "its name is nearer to the mention",
    "type": "its type fits the entity label",
    "usual": "it matched by its preferred name, or has clearly more names",
    "id": "nothing but the order of ids",
}


@dataclass(frozen=True)
class Explanation:
    """The reasons for the link of a mention; `str()` makes text of it, `as_dict()` plain data.

    mention, label (str): as linked. link (Dict): `id`, `name`, `reason`, why it is NIL, and
        `match`, "narrower" where only a head of the mention, without its qualifiers, is linked.
    forms (List[Dict]): the looked-up forms: `text`, `why`, whether only names count (`as_name`),
        the best candidate (`id`, `score`, after `discount`), and whether this form led to the link
        (`kept`).
    filters (Dict): `given` in words; `passing` of `names` names; `removed`, the candidates that
        would have been better than the last kept candidate; `better`, the concept outside the
        filters that makes the mention NIL, or None.
    candidates (List[Dict]): `id`, `name`, `score`, `prob`, `matched` (`text`, `lang`, `source`,
        `tty`), `tiers` (`score`, and `rank` where the tier proposed it), `form`.
    runner_up (Optional[Dict]): `id`, `name`, `margin` (how much lower it scores), and `decided`,
        the rule that put it second where the margin is 0.
    identifiers (List[str]): written beside the mention in the document.
    tied (List[str]): ids, see `Decision`. parts (List[Dict]): of a composite mention.
    reranked (Optional[bool]): whether the reranker read the mention when it was linked; the scores
        shown are those of all tiers and the reranker. None without a reranker.
    """

    mention: str
    label: str
    link: Data
    forms: list[Data]
    filters: Data
    candidates: list[Data]
    runner_up: Data | None
    identifiers: list[str] = field(default_factory=list)
    tied: list[str] = field(default_factory=list)
    parts: list[Data] = field(default_factory=list)
    reranked: bool | None = None

    def as_dict(self) -> Data:
        """Make plain data for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def _lines(explanation: Explanation) -> Iterator[str]:
    label = f" [{explanation.label}]" if explanation.label else ""
    yield f"{_one_line(explanation.mention)}{label} -> {_link(explanation)}"
    yield from _forms(explanation)
    if explanation.identifiers:
        yield f"  the document writes {', '.join(explanation.identifiers)}"
    yield from _filters(explanation)
    if explanation.reranked is False:
        yield "  linked without the reranker, whose readings would hardly ever change the link"
    for rank, candidate in enumerate(explanation.candidates, 1):
        yield from _candidate(rank, candidate)
    if explanation.parts:
        yield "  composite mention, linked by its parts:"
        for part in explanation.parts:
            yield f"    {part['text']} -> {part['id']} {part['name']} ({part['score']:.4f})"
    if explanation.runner_up is not None:
        yield _runner_up(explanation.runner_up)
    if explanation.tied:
        yield f"  ambiguous, nothing tells apart: {', '.join(explanation.tied)}"


def _link(explanation: Explanation) -> str:
    link = explanation.link
    if link["id"] == "NIL":
        return f"NIL: {link['reason']}"
    match = f" (the mention is {link['match']})" if "match" in link else ""
    return f"{link['id']} {link['name']}{match}"


def _forms(explanation: Explanation) -> Iterator[str]:
    if len(explanation.forms) < 2:
        return
    for form in explanation.forms:
        best = f"best {form['id']} {form['score']:.4f}" if form["id"] else "nothing found"
        kept = ", kept" if form["kept"] else ""
        why = form["why"] + (", as a name alone" if form["as_name"] else "")
        yield f"  form {_one_line(form['text'])!r} ({why}): {best}{kept}"


def _filters(explanation: Explanation) -> Iterator[str]:
    filters = explanation.filters
    if not filters["given"]:
        return
    yield f"  filter {filters['given']}: {filters['passing']:,} of {filters['names']:,} names pass"
    for candidate in filters["removed"]:
        yield f"    removed {candidate['id']} {candidate['name']} ({candidate['score']:.4f})"
    if (better := filters["better"]) is not None:
        yield f"    NIL, for {better['id']} {better['name']} says it better, outside the filter"


def _candidate(rank: int, candidate: Data) -> Iterator[str]:
    matched = candidate["matched"]
    origin = ", ".join(
        part for part in (matched["lang"], matched["source"], matched["tty"]) if part
    )
    prob = "" if candidate["prob"] is None else f", probability {candidate['prob']:.3f}"
    yield f"  {rank}. {candidate['id']} {candidate['name']}: {candidate['score']:.4f}{prob}"
    yield f"     matched {matched['text']!r}" + (f" ({origin})" if origin else "")
    tiers = ", ".join(f"{tier} {_tier(values)}" for tier, values in candidate["tiers"].items())
    if tiers:
        yield f"     {tiers}"


def _tier(values: Data) -> str:
    rank = f" (rank {values['rank']})" if "rank" in values else ""
    return f"{values['score']:.4f}{rank}"


def _runner_up(second: Data) -> str:
    text = f"  runner-up {second['id']} {second['name']}, {second['margin']:.4f} behind"
    return f"{text}; decided: {_DECIDED[second['decided']]}" if second["decided"] else text


def _one_line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 100 else f"{words[:97]}..."
