"""The benchmark of the n-gram tier: its texts, and what it says of an index that finds all."""

from pathlib import Path

import pytest

from benchmarks.grown_kb import grown, grown_concepts
from benchmarks.ngrams import measure, misspelt
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.retrieval import word_ngram


@pytest.mark.parametrize("few", [0, 1024])
def test_few_names_are_all_found(
    tiny_kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(word_ngram, "_FEW", few)
    found = measure("words", str(tiny_kb.path), str(tmp_path), 0, 400, [])
    assert found["names"] == 400
    assert found["misspelt names"]["recall@20"] > (0.99 if few else 0.8)


def test_texts_and_names_are_made_of_the_names(tiny_kb: KnowledgeBase) -> None:
    own = list(tiny_kb.iter_texts())
    names = list(grown(tiny_kb, 500))
    assert len(names) == 500 and names[: len(own)] == own
    assert names == list(grown(tiny_kb, 500))
    texts = misspelt(tiny_kb)
    assert len(set(texts) - set(own)) > len(texts) / 2
    assert {abs(len(text) - len(name)) for text in texts for name in own} >= {0, 1}


def test_a_grown_release_changes_a_share_of_its_names(tiny_kb: KnowledgeBase) -> None:
    first, again, later = (
        [name.text for one in grown_concepts(tiny_kb, 4000, year, 0.04) for name in one.names]
        for year in (0, 0, 1)
    )
    assert first == again
    assert 10 < len(set(later) - set(first)) < 80
