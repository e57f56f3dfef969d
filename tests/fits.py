"""Assets that tests fit models to, one part at a time, and write."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from spacy_medlink.assets import Assets
from spacy_medlink.assets.manifest import CALIBRATOR, RANKER_FILE
from spacy_medlink.assets.variant import left_out, write_variant
from spacy_medlink.evaluation import load_gold
from spacy_medlink.fitting.calibrate import CalibratorFit, fit_on_gold, fit_on_names_of
from spacy_medlink.fitting.mention_names import Added, add_mention_names
from spacy_medlink.fitting.ranker import RankerFit, fit_ranker
from spacy_medlink.kb import KnowledgeBase


class Calibrated(NamedTuple):
    assets: Assets
    fit: CalibratorFit

    @property
    def facts(self) -> dict[str, Any]:
        return self.assets.manifest["calibrator"]

    @property
    def threshold(self) -> float:
        return self.fit.calibrator.threshold


class Ranked(NamedTuple):
    assets: Assets
    fit: RankerFit

    @property
    def facts(self) -> dict[str, Any]:
        return self.fit.entry

    @property
    def kept(self) -> bool:
        return self.fit.ranker is not None


def calibrated_on(assets: Assets, out: Path, gold: Path, **settings: Any) -> Calibrated:
    """Write assets with a calibrator that is fitted to annotated text."""
    return _calibrated(
        assets, out, fit_on_gold(assets, load_gold(gold, assets.kb, nil_only=True), **settings)
    )


def calibrated_on_names(assets: Assets, out: Path) -> Calibrated:
    """Write assets with the calibrator of a build."""
    fit = fit_on_names_of(assets)
    assert fit is not None
    return _calibrated(assets, out, fit)


def _calibrated(assets: Assets, out: Path, fit: CalibratorFit) -> Calibrated:
    made = write_variant(
        assets,
        out,
        {"calibrator": fit.entry},
        without=[CALIBRATOR],
        add=lambda path: fit.calibrator.save(path / CALIBRATOR),
    )
    return Calibrated(made, fit)


def ranked_on(assets: Assets, out: Path, gold: Path, **settings: Any) -> Ranked:
    """Write assets with a ranker, if it helps, and the calibrator of a build."""
    fit = fit_ranker(assets, load_gold(gold, assets.kb), **settings)
    without, ranker = [RANKER_FILE], fit.ranker
    facts: dict[str, Any] = {
        "ranker": fit.entry if ranker else None,
        "left_out": left_out(assets, "ranker", fit.why_not),
    }
    if ranker is None:
        return Ranked(write_variant(assets, out, facts, without=without), fit)
    facts |= {"calibrator": None, "reranker": None}
    made = write_variant(
        assets,
        out,
        facts,
        without=[*without, CALIBRATOR, "reranker"],
        add=lambda path: ranker.save(path / RANKER_FILE),
    )
    return Ranked(calibrated_on_names(made, out).assets, fit)


def mention_names(out: Path, kb: KnowledgeBase, gold: Sequence[Path], **settings: Any) -> Added:
    """Write a knowledge base with the mentions of gold files as names."""
    files = [load_gold(path, kb, nil_only=True) for path in gold]
    return add_mention_names(out, kb, files, **settings)
