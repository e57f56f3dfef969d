import json
from pathlib import Path

from benchmarks.evaluation import _evaluate, _gold, table
from spacy_medlink.building import build_assets
from spacy_medlink.kb import KnowledgeBase


def test_mentions_are_names_with_mistakes(tiny_kb: KnowledgeBase) -> None:
    lines = [json.loads(line) for line in _gold(tiny_kb, 30)]
    assert lines == [json.loads(line) for line in _gold(tiny_kb, 30)]
    assert len({line["mention"] for line in lines}) == 30
    assert {line["doc_id"] for line in lines} == {"d0", "d1"}
    names = set(tiny_kb.iter_texts())
    told = [line["mention"] not in names for line in lines]
    assert 10 < sum(told) < 30
    assert all(id in tiny_kb for line in lines for id in line["ids"])


def test_an_evaluation_is_measured(tmp_path: Path, tiny_kb: KnowledgeBase) -> None:
    assets = build_assets(tmp_path / "assets", tiny_kb.path)
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(_gold(tiny_kb, 20)), encoding="utf-8")
    run = _evaluate(assets.path, gold, ("--reference", "dictionary"), tmp_path)
    assert run["ranking_s"].keys() == {"linker", "exact", "ngram", "tfidf"}
    assert run["wall_s"] > 0 and run["cpu_s"] > 0 and run["peak_rss_mb"] > 0
    results = {
        "runs": {"all": run}, "wanted_s": 60.0, "mentions": 20, "names": 70,
        "machine": {"cores": 2},
    }  # fmt: skip
    text = table(results)
    assert f"| all | {run['wall_s']} |" in text
    assert "20 distinct mentions, 70 names" in text and "cores 2" in text
