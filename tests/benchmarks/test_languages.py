"""Encoders are measured by names in other languages; what measures is not trained on."""

from benchmarks import languages
from spacy_medlink.kb import KnowledgeBase


def test_the_same_concepts_in_each_run(tmp_path, tiny_kb, tiny_encoder):
    rows = languages.draw(tiny_kb)
    assert rows == languages.draw(tiny_kb)
    english, others = languages.names_of(tiny_kb, rows)
    assert {"de", "es", "fr"} <= others.keys() and "en" not in others
    assert {row for row, _ in english} == set(rows)
    output, without = tmp_path / "languages.json", tmp_path / "without.kb"
    languages.main(tiny_kb.path, [str(tiny_encoder)], without, output)
    assert f"among {len(english)} English" in output.with_suffix(".md").read_text("utf-8")
    held = {tiny_kb.concept_at(row).id for row in rows}
    assert held.isdisjoint({concept.id for concept in KnowledgeBase(without)})


def test_right_is_a_name_of_the_concept():
    class Known:
        def encode(self, texts: list[str]) -> "languages.np.ndarray":
            places = {"fever": 0, "pyrexia": 1, "cough": 2, "Fieber": 1, "Husten": 0}
            return languages.np.eye(3)[[places[text] for text in texts]]

    english = [(7, "fever"), (7, "pyrexia"), (8, "cough")]
    others = {"de": [(7, "Fieber"), (8, "Husten")]}
    found = languages.measure(Known(), english, others)  # type: ignore[arg-type]  # no whole encoder
    assert found == {"mean": 50.0, "de": 50.0}
