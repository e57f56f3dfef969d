"""Explanations: why a mention is linked as it is, as data."""

from collections.abc import Sequence

from ..kb import KnowledgeBase
from ..retrieval.concepts import MEMORY
from ..types import Candidate, Data, Mention
from .decision import Decision
from .explanation import Explanation
from .forms import Lookup
from .reranking import RERANK
from .scopes import Scope

_DIGITS = 4


def explain(
    kb: KnowledgeBase,
    mention: Mention,
    decision: Decision,
    by_form: Sequence[Sequence[Candidate]],
    scope: Scope,
    free: Sequence[Candidate],
    k: int = 5,
    reranked: bool | None = None,
    is_spelt: bool = False,
) -> Explanation:
    """Explain a decision.

    by_form (Sequence[Sequence[Candidate]]): the rankings of `form_mentions`.
    scope (Scope): of the mention. free (Sequence[Candidate]): its ranking without any filter.
    k (int): candidates kept. reranked (Optional[bool]): as `is_reranked` says.
    is_spelt (bool): whether its other form is the name that a misspelt mention means.
    """
    chosen = decision.link
    link = {"id": "NIL", "name": "", "reason": decision.reason}
    if chosen is not None:
        concept = kb.concept_at(chosen.row)
        link = {"id": concept.id, "name": concept.name, "reason": ""}
        if chosen.match:
            link["match"] = chosen.match
    return Explanation(
        mention=mention.text,
        label=mention.label,
        link=link,
        forms=_forms(kb, mention, decision, by_form, is_spelt),
        filters=_filters(kb, decision, scope, free, k),
        candidates=[_candidate(kb, candidate) for candidate in decision.ranking],
        runner_up=_runner_up(kb, decision.ranking),
        identifiers=list(mention.identifiers),
        tied=[kb.concept_at(row, names=False).id for row in decision.tied],
        parts=[{"text": part.text, **_candidate(kb, part.ranking[0])} for part in decision.parts],
        reranked=reranked,
    )


def is_reranked(ranking: Sequence[Candidate]) -> bool | None:
    """Tell whether the reranker has read the candidates of a mention; None where there are none."""
    return any(RERANK in candidate.scores for candidate in ranking) if ranking else None


def form_mentions(mention: Mention) -> list[Mention]:
    """Make a mention of each form that is looked up, as if it stood alone."""
    return [
        mention._replace(
            text=form, long_form="", expansions=(), identifiers=(), verbatim=(), vector=vector
        )
        for form, vector in Lookup.of(mention).asked
    ]  # fmt: skip


def _forms(
    kb: KnowledgeBase,
    mention: Mention,
    decision: Decision,
    by_form: Sequence[Sequence[Candidate]],
    is_spelt: bool,
) -> list[Data]:
    lookup = Lookup.of(mention)
    best = decision.ranking[0] if decision.ranking else None
    kept = best.form or mention.text if best else ""
    described = []
    for form, ranking in zip(lookup.forms, by_form, strict=True):
        discount = lookup.discount(form)
        as_name = bool(lookup.verbatim) and form not in lookup.longer
        if as_name:
            ranking = [it for it in ranking if lookup.counts(form, it)]
        described.append(
            {
                "text": form,
                "why": _why(form, mention, is_spelt),
                "as_name": as_name,
                "kept": form == kept,
                **_best_of(kb, ranking, discount),
            }
        )
    if best and best.match and kept not in lookup.forms:
        only_named = {"text": kept, "why": "without qualifiers", "as_name": True, "kept": True}
        described.append({**only_named, **_best_of(kb, [best], 1.0)})
    return described


def _best_of(kb: KnowledgeBase, ranking: Sequence[Candidate], discount: float) -> Data:
    best = ranking[0] if ranking else None
    return {
        "id": kb.concept_at(best.row, names=False).id if best else "",
        "score": round(best.score * discount, _DIGITS) if best else None,
        "discount": discount,
    }


def _why(form: str, mention: Mention, is_spelt: bool) -> str:
    if form == mention.text:
        return "the mention"
    if form == mention.long_form:
        return "the document spells it out"
    return "the mention is misspelt" if is_spelt else "the lexicon says so"


def _filters(
    kb: KnowledgeBase, decision: Decision, scope: Scope, free: Sequence[Candidate], k: int
) -> Data:
    """Describe the filters, and the candidates that they removed."""
    if scope.mask is None:
        return {"given": "", "passing": kb.n_names, "names": kb.n_names, "removed": [],
                "better": None}  # fmt: skip
    kept = {candidate.row for candidate in decision.ranking}
    last = decision.ranking[-1].score if len(decision.ranking) >= k else -1.0
    removed = [
        candidate for candidate in free if candidate.row not in kept and candidate.score >= last
    ]
    return {
        "given": " and ".join(map(str, scope.selection)),
        "passing": scope.mask.count,
        "names": kb.n_names,
        "removed": [_candidate(kb, candidate) for candidate in removed],
        "better": _candidate(kb, decision.outside) if decision.outside is not None else None,
    }


def _candidate(kb: KnowledgeBase, candidate: Candidate) -> Data:
    concept, name = kb.concept_at(candidate.row), kb.name_at(candidate.name_row)
    tiers: dict[str, Data] = {}
    for tier in dict.fromkeys((*candidate.scores, *candidate.ranks)):
        if tier == MEMORY and not candidate.scores.get(tier):
            continue
        tiers[tier] = {"score": round(candidate.scores.get(tier, 0.0), _DIGITS)}
        if tier in candidate.ranks:
            tiers[tier]["rank"] = candidate.ranks[tier]
    return {
        "id": concept.id,
        "name": concept.name,
        "types": list(concept.types),
        "score": round(candidate.score, _DIGITS),
        "prob": candidate.prob,
        "matched": {"text": name.text, "lang": name.lang, "source": name.source, "tty": name.tty},
        "tiers": tiers,
        "form": candidate.form,
    }  # fmt: skip


def _runner_up(kb: KnowledgeBase, ranking: Sequence[Candidate]) -> Data | None:
    if len(ranking) < 2:
        return None
    first, second = ranking[:2]
    concept = kb.concept_at(second.row)
    margin = round(first.score - second.score, _DIGITS)
    return {"id": concept.id, "name": concept.name, "margin": margin, "decided": first.decided}
