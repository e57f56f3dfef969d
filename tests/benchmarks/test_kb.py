"""The benchmark of knowledge bases measures what it says, here over a dozen concepts."""

import pytest

from benchmarks import kb_tasks
from benchmarks.grown import grown_concepts
from benchmarks.kb import Terminology
from spacy_medlink.assets import Assets
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.retrieval.word_ngram import WordNgramIndex


@pytest.fixture(autouse=True)
def _few_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kb_tasks, "_TEXTS", 12)
    monkeypatch.setattr(kb_tasks, "_SAMPLE", 20)


def test_every_task_has_figures(tiny_assets):
    assets = str(tiny_assets.path)
    found = {
        "read": kb_tasks.read(str(tiny_assets.kb.path)),
        "exact": kb_tasks.exact(assets),
        "ngrams": kb_tasks.ngrams(assets),
        "notes": kb_tasks.notes(assets, 4),
        "filters": kb_tasks.filters(assets),
    }
    assert found["ngrams"]["recall@20"] == 1
    assert len(found["notes"]["memory beside mapped files in 4 more notes, MB"].split()) == 5
    assert any(name.startswith("within") for name in found["filters"])
    numbers = [value for own in found.values() for value in own.values() if value != str(value)]
    assert len(numbers) > 15 and all(value > 0 for value in numbers)


def test_the_dense_tier_is_searched_within_a_part(tiny_assets, monkeypatch):
    monkeypatch.setattr(kb_tasks, "_TEXTS", 100)
    found = kb_tasks.dense(str(tiny_assets.path))
    assert found["recall@25 of Flat, by the build"] == 1
    assert found["within a seventh of the concepts, ms"] > 0


def test_recall_is_that_of_a_comparison_with_all_names(tiny_kb):
    index = WordNgramIndex.build(tiny_kb.iter_texts())
    texts = kb_tasks.misspelt(tiny_kb) * 4
    assert 0.8 < kb_tasks._recall(index, texts) <= 1
    best = kb_tasks._products(index, "Heart attack")
    assert best[0] == pytest.approx(1.0, abs=1e-5) and sorted(best, reverse=True) == list(best)


@pytest.mark.slow
def test_a_release_and_the_next_one(tmp_path):
    terminology = Terminology(tmp_path, 60, 200, None, "", "")
    terminology.run("read", 0)
    terminology.update()
    assert {"build", "read", "update"} <= terminology.figures.keys()
    assert len(KnowledgeBase(terminology.kb(1))) > 0
    assert Assets(terminology.assets(1)).tiers == ["exact", "ngram"]


def test_a_grown_release_changes_a_share_of_its_names(tiny_kb):
    first, again, later = (
        [name.text for one in grown_concepts(tiny_kb, 4000, year) for name in one.names]
        for year in (0, 0, 1)
    )
    assert first == again and set(tiny_kb.iter_texts()) <= set(first)
    assert 10 < len(set(later) - set(first)) < 80
