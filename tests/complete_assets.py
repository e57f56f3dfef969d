"""Small assets that have every part there can be."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.assets.manifest import CALIBRATOR, RANKER_FILE
from spacy_medlink.assets.reranker import store_reranker
from spacy_medlink.assets.variant import write_variant
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.cross_encoder import CrossEncoder, CrossSettings
from spacy_medlink.kb.schema import kb_fingerprint
from spacy_medlink.linking.calibrator import CALIBRATOR_FEATURES, RankingCalibrator
from spacy_medlink.linking.facts import name_facts
from spacy_medlink.linking.linear import LinearModel
from spacy_medlink.linking.ranker import RANKER_FEATURES, CandidateRanker
from tests.lines import note, said, write_lines

GOLD = {"heart attack": "HP:0001658", "sugar": "HP:0000819", "diabetes": "HP:0000819"}


def write_complete_assets(out: Path, kb: Path, encoder: Path) -> Assets:
    """Write assets with tiers, memory, ranker, reranker and calibrator."""
    work = out.with_name(out.name + "-work")
    work.mkdir()
    lines = (
        note(text, said(text, text, id, type="Disease"), doc_id=text) for text, id in GOLD.items()
    )
    gold = write_lines(work / "gold.jsonl", *lines)
    assets = build_assets(work / "built", kb, encoder, memory=[gold])
    assets = _with_ranker(assets, work / "ranked")
    assets = store_reranker(assets, work / "reranked", _reranker(assets, encoder), {})
    return _with_calibrator(assets, out)


def _with_ranker(assets: Assets, out: Path) -> Assets:
    conditions = assets.conditions(assets.engine(rescorer=None))
    weights = np.linspace(0, 1, len(RANKER_FEATURES))
    model = LinearModel.of(RANKER_FEATURES, 0.0, 1.0, weights)

    def add(path: Path) -> None:
        facts = name_facts(assets.kb, assets.name_concept)
        CandidateRanker(model, facts, 4, conditions).save(path / RANKER_FILE)

    return write_variant(assets, out, {"ranker": {}}, add=add)


def _reranker(assets: Assets, encoder: Path) -> CrossEncoder:
    kb = kb_fingerprint(assets.manifest["kb"])
    return random_cross_encoder(encoder, 1, kb=kb, top=3, weight=0.5)


def random_cross_encoder(encoder: Path, seed: int = 0, **settings: Any) -> CrossEncoder:
    """Make a cross-encoder whose head is random, so that it says something of pairs."""
    made = CrossEncoder.of(BiEncoder.load(encoder), CrossSettings(**settings))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.nn.init.normal_(made.module.head.weight)
    return made


def _with_calibrator(assets: Assets, out: Path) -> Assets:
    weight = 1 / len(CALIBRATOR_FEATURES)
    model = LinearModel.of(CALIBRATOR_FEATURES, 0.0, 1.0, weight)
    calibrator = RankingCalibrator(
        model, model, model,
        fitted_for=assets.conditions(assets.engine(calibrator=False)),
    )  # fmt: skip
    return write_variant(
        assets,
        out,
        {"calibrator": {"threshold": 0.1}},
        without=[CALIBRATOR],
        add=lambda path: calibrator.save(path / CALIBRATOR),
    )
