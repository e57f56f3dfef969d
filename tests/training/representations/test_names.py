from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.types import Concept, Name
from training.representations.names import translate


def test_the_english_name_of_the_same_concept_is_right(tmp_path, tiny_encoder):
    """Concepts before it have several names: rows of names and of concepts differ."""
    lung = Concept("B", "lung", (Name("lung", "en"), Name("lungs", "en")))
    targets = [Concept("A", "a", tuple(Name(letter, "en") for letter in "abcdef")), lung]
    build_kb(tmp_path / "names", [Concept("B", "lung", (Name("lung", "de"), Name("x", "en")))])
    build_kb(tmp_path / "targets", targets)
    names, targets_kb = (KnowledgeBase(tmp_path / part) for part in ("names", "targets"))
    found = translate(BiEncoder.load(tiny_encoder), "B", names, targets_kb)
    assert list(found) == [("de", "lung", "lung", True)]
