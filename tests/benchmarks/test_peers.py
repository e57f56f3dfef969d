import importlib
import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from benchmarks.peers import PEERS, __main__
from benchmarks.peers import scispacy as scispacy_peer
from benchmarks.peers.spacy_linker import SpacyRanker
from spacy_medlink.building import build_assets
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.types import Concept, Mention, Name


def test_spacy_takes_names_as_they_are(tiny_kb: KnowledgeBase) -> None:
    ranker = SpacyRanker(tiny_kb, 64)
    asked = [Mention("Asthma"), Mention("asthmatic"), Mention("PE"), Mention("X", "Heart attack")]
    asthma, none, shared, long = ranker.rank(asked, 5)
    assert [tiny_kb.concept_at(one.row).id for one in asthma] == ["HP:0002099"]
    assert none == []
    assert [one.score for one in shared] == [0.5, 0.5]
    assert tiny_kb.concept_at(long[0].row).id == "HP:0001658"
    assert tiny_kb.name_at(long[0].name_row).text == "Heart attack"
    ((row, score), *rest) = ranker.rank_names(["Asthma"], 5)[0]
    assert (tiny_kb.name_at(row).text, score, rest) == ("Asthma", 1.0, [])
    assert len(ranker.rank_names(["PE"], 5)[0]) == 2


def test_beside_the_baselines(tmp_path: Path, tiny_kb: KnowledgeBase) -> None:
    assets = build_assets(tmp_path / "assets", tiny_kb.path)
    gold = tmp_path / "gold.jsonl"
    mentions = [("Asthma", "HP:0002099"), ("astma", "HP:0002099")]
    lines = (json.dumps({"mention": text, "ids": [id]}) + "\n" for text, id in mentions)
    gold.write_text("".join(lines), encoding="utf-8")
    __main__.main(assets.path, gold, tmp_path / "metrics.json", ["spacy"])
    metrics = json.loads((tmp_path / "metrics.json").read_text("utf-8"))
    assert metrics["baselines"]["spacy"]["acc@1"] == 0.5
    assert metrics["baselines"]["exact"]["acc@1"] == 0.5
    assert "| spacy | 0.5 |" in (tmp_path / "metrics.md").read_text("utf-8")


def test_a_peer_that_is_not_installed(
    tiny_kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(scispacy_peer, "import_module", missing)
    with pytest.raises(SystemExit, match="pip install scispacy nmslib"):
        PEERS["scispacy"](tiny_kb, 64)


@pytest.fixture(scope="module")
def _scispacy() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for package in ("nmslib", "scispacy.candidate_generation"):
            try:
                importlib.import_module(package)
            except ImportError as error:
                pytest.skip(str(error))


@pytest.mark.usefixtures("_scispacy")
def test_scispacy_over_our_names(tmp_path: Path) -> None:
    kinds = [f"kind {number}" for number in range(12)]
    concepts = [
        Concept(f"C{number}", f"fever {kind}", (Name(f"fever {kind}"), Name(f"pyrexia {kind}")))
        for number, kind in enumerate(kinds)
    ]
    build_kb(tmp_path / "kb", [*concepts, Concept("N", "xyz", (Name("xyz"),))])
    kb = KnowledgeBase(tmp_path / "kb")
    ranker = PEERS["scispacy"](kb, 16)
    rankings = ranker.rank([Mention("pyrexia, kind"), Mention("pyrexia kind"), Mention("")], 3)
    assert len(rankings[0]) == len(rankings[1]) == 3 and rankings[2] == []
    assert kb.name_at(rankings[1][0].name_row).text.startswith("pyrexia kind")
    scores = [one.score for one in rankings[1]]
    assert scores == sorted(scores, reverse=True) and scores[0] == pytest.approx(1.0, abs=0.1)
    assert len(ranker.rank_names(["pyrexia kind"], 4)[0]) == 4


@pytest.mark.usefixtures("_scispacy")
def test_scispacy_wants_more_names(tmp_path: Path) -> None:
    build_kb(tmp_path / "kb", [Concept("A", "one", (Name("one"),))])
    with pytest.raises(SystemExit, match="no trigram"):
        PEERS["scispacy"](KnowledgeBase(tmp_path / "kb"), 64)
