"""The benchmarks of what training is worth count and show what they say."""

import numpy as np

from benchmarks.ablation import table as ablation_table
from benchmarks.crosslingual import CrossLingualTask, held_out
from benchmarks.crosslingual import table as crosslingual_table
from spacy_medlink.kb import KnowledgeBase, KnowledgeBaseBuilder
from spacy_medlink.types import Concept, Name


class Spelling:
    """An encoder whose vectors are the counts of letters."""

    def encode(self, texts):
        letters = np.array([[text.count(chr(97 + n)) for n in range(26)] for text in texts])
        vectors = letters.astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def knowledge_base(path):
    with KnowledgeBaseBuilder(path) as builder:
        for id, names in {
            "A": [("asthma", "en"), ("asthma bronchiale", "de"), ("asma", "es")],
            "B": [("measles", "en"), ("rubeola", "en"), ("masern", "de")],
            "C": [("rash", "en"), ("marsne", "en"), ("rashes", "en")],
            "D": [("cough", "en")],
        }.items():
            own = tuple(Name(text, lang, "X", "SY") for text, lang in names)
            builder.add(Concept(id, names[0][0], own))
    return KnowledgeBase(path)


def test_only_concepts_with_names_to_link_are_held_out(tmp_path):
    kb = knowledge_base(tmp_path / "kb")
    assert held_out(kb, 2) == ["A", "B"]


def test_ranks_count_concepts_among_english_names(tmp_path):
    task = CrossLingualTask(knowledge_base(tmp_path / "kb"), ["A", "B"])
    assert task.counts == {"de": 2, "es": 1, "fr": 0, "it": 0, "nl": 0, "pl": 0}
    assert task.candidates == 7
    found = task.accuracy(Spelling())
    # The letters of "masern" are those of "marsne", two names of one wrong concept before it.
    assert found["de"] == {"acc@1": 50.0, "acc@5": 100.0}
    assert found["es"] == {"acc@1": 100.0, "acc@5": 100.0}
    assert found["mean"] == {"acc@1": 75.0, "acc@5": 100.0}


def test_tables():
    accuracy = {lang: {"acc@1": 12.0, "acc@5": 34.5} for lang in
                ("de", "es", "fr", "it", "nl", "pl", "mean")}  # fmt: skip
    results = {
        "accuracy": {"untrained": accuracy, "en_syn": accuracy}, "names": {"de": 2000, "es": 1},
        "concepts": 3, "candidates": 4, "minutes": 6, "machine": {"cores": 2},
    }  # fmt: skip
    text = crosslingual_table(results)
    assert text.count("12.0 / 34.5") == 14
    assert "2,001 names of 3 concepts" in text
    cell = {"acc@1": 1.0, "acc@5": 2.5}
    text = ablation_table(
        {
            "found": {
                "untrained": cell,
                "circle": {"mined": cell, "not mined": cell},
                "all_names": {"not mined": cell},
            },
            "data": {"dev_queries": 5, "shortlist": 7},
            "steps": 1,
            "pairs_a_batch": 2,
            "learning_rate": 1e-4,
            "machine": {"cores": 2},
        }
    )
    assert text.count("1.0 / 2.5") == 4
