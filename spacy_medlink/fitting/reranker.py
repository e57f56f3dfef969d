"""Puts a reranker into assets, or notes there why it was left out; fits its gate."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..assets import Assets
from ..assets.layout import CALIBRATOR, RERANKER
from ..assets.variant import left_out, write_variant
from ..linking.gate import RerankGate, ahead
from ..linking.reranking import Reranker
from ..types import Candidate, Mention
from .calibrate import calibrate_on_names
from .gate import CONFIDENCE, at_most

if TYPE_CHECKING:
    from ..encoders.cross_encoder import CrossEncoder

MAX_CHANGED = 0.005  # share of different texts; to show less, more than a corpus has are needed
_SAMPLE = 100  # concepts whose names calibrate; few, since reranking is slow


def fit_rerank_gate(
    reranker: Reranker,
    mentions: Sequence[Mention],
    rankings: Sequence[Sequence[Candidate]],
    conditions: Mapping[str, Any],
) -> dict[str, Any]:
    """Find how far ahead a first candidate must be for the reranker to leave it there.

    With 95 % confidence, at most MAX_CHANGED of the texts would get another first candidate if all
    were read. Margins are tried from the widest on until that no longer holds, so that trying
    several needs no correction (fixed sequence testing: Angelopoulos et al. 2021, "Learn then
    Test"). A reading is between 0 and 1, so that it cannot make up for more than weight / (1 -
    weight).

    reranker (Reranker): with its weight, without a gate. mentions, rankings: held out, as the
        reranker gets them. Mentions of the same text count as one.
    conditions (Mapping): what the rankings depend on.
    RETURNS (Dict): "gate" of the reranker in a manifest.
    """
    widest: dict[str, float] = {}  # margin of each text at which the first candidate changes
    after = reranker.rescore(mentions, rankings)
    for mention, old, new in zip(mentions, rankings, after, strict=True):
        margin = ahead(old) if old and old[0].row != new[0].row else -1.0
        text = mention.text.lower()
        widest[text] = max(widest.get(text, -1.0), margin)
    changes = sorted((own for own in widest.values() if own >= 0), reverse=True)
    weight, n = reranker.weight, len(widest)
    allowed = sum(at_most(k, n) <= MAX_CHANGED for k in range(len(changes) + 1))
    fitted = [1.0, *changes, 0.0][allowed]
    certain = weight / (1 - weight) if weight < 1 else 1.0
    gate = RerankGate(min(fitted, certain, 1.0))
    changed = sum(own > gate.margin for own in changes)
    return {
        "margin": gate.margin,
        "mentions": len(mentions),
        "passing": sum(map(gate.lets, rankings)),
        "examples": n,
        "changed": changed,
        "at_most": 0.0 if certain <= fitted else at_most(changed, n),
        "max_changed": MAX_CHANGED,
        "confidence": CONFIDENCE,
        "fitted_for": dict(conditions),
    }


def store_reranker(
    assets: Assets,
    out: str | Path,
    encoder: "CrossEncoder",
    facts: dict[str, Any],
    overwrite: bool = False,
) -> Assets:
    """Write the assets with a reranker; it replaces any earlier one.

    Their calibrator was fitted to other scores, so a new one is fitted to names. Names have no
    context: calibrate on gold mentions where there are some.

    out (Path): directory to write, which may be that of the assets. facts (Dict): for the manifest.
    overwrite (bool): lose what `out` holds besides assets.
    RAISES (MedlinkError): E217 if it was made for other assets, E109 the disk, E120-E123.
    """
    assets.check_reranker(encoder, Path(out) / RERANKER)
    about = {"fingerprint": encoder.fingerprint(), "top": encoder.settings.top,
             "weight": encoder.settings.weight, **facts}  # fmt: skip
    return _write(assets, Path(out), encoder, about, "", overwrite)


def leave_out_reranker(
    assets: Assets, out: str | Path, why: str, overwrite: bool = False
) -> Assets:
    """Write the assets without a reranker; the manifest's "left_out" says why."""
    return _write(assets, Path(out), None, None, why, overwrite)


def _write(
    assets: Assets,
    out: Path,
    encoder: "CrossEncoder | None",
    about: dict[str, Any] | None,
    why: str,
    overwrite: bool,
) -> Assets:
    facts = {RERANKER: about, "left_out": left_out(assets, RERANKER, why)}
    without = [RERANKER]
    if about is not None or assets.manifest.get(RERANKER) is not None:  # scores change
        facts["calibrator"] = None
        without.append(CALIBRATOR)

    def add(path: Path) -> None:
        if encoder is not None:
            (path / RERANKER).mkdir()
            encoder.save(path / RERANKER)

    made = write_variant(assets, out, facts, without=without, add=add, overwrite=overwrite)
    if CALIBRATOR not in without:
        return made
    return calibrate_on_names(made, out, sample=_SAMPLE)
