"""A word with the hash of another word changes nothing of what other documents say.

spaCy knows words by a 64-bit MurmurHash, for which other text with the same hash is easily made.
"""

import pytest
import spacy
import xxhash
from spacy.strings import hash_string
from spacy.tokens import Doc, Span

from spacy_medlink.components.linker import MedicalLinker
from spacy_medlink.retrieval.memory import MentionMemory, Remembered

WORD = "diabetes"
CRAFTED = "ibruojyd<κu'3Ur"


def history_of(word: str) -> Doc:
    """Make a Doc of a vocabulary of its own, in which the word is an entity."""
    doc = Doc(spacy.blank("en").vocab, words=["sugar", word], spaces=[True, False])
    doc.set_ents([Span(doc, 0, 2, label="DISEASE")])
    return doc


def test_the_words_collide():
    assert hash_string(WORD) == hash_string(CRAFTED)


@pytest.mark.parametrize("word", [WORD, CRAFTED])
def test_mentions_say_what_the_document_says_after_a_crafted_one(tiny_assets, word):
    linker = MedicalLinker(spacy.blank("en").vocab, assets=tiny_assets.path)
    for written in (CRAFTED, WORD, word):
        (mention,) = linker.mentions(history_of(written))
        assert mention.text == f"sugar {written}"


def test_links_after_a_crafted_document(tiny_assets):
    linker = MedicalLinker(spacy.blank("en").vocab, assets=tiny_assets.path)
    linker(history_of(CRAFTED))
    best = linker(history_of(WORD)).ents[0]._.candidates[0]
    assert (best["matched"], best["scores"]["exact"]) == ("sugar diabetes", 1.0)


def test_words_of_a_memory_zone_are_forgotten_with_it(tiny_assets):
    nlp = spacy.blank("en")
    linker = MedicalLinker(nlp.vocab, assets=tiny_assets.path)
    for word in (CRAFTED, WORD):
        with nlp.memory_zone():
            doc = Doc(nlp.vocab, words=[word])
            doc.set_ents([Span(doc, 0, 1, label="DISEASE")])
            assert [mention.text for mention in linker.mentions(doc)] == [word]


def test_corrections_are_found_by_what_they_say(monkeypatch):
    monkeypatch.setattr(xxhash, "xxh3_64_intdigest", lambda data: 7)  # all hashes collide
    lines = [Remembered(word, "", word, 1, 1) for word in ("fever", "cough")]
    memory = MentionMemory.of(lines, {"fever": 1, "cough": 2})
    assert memory.find(["cough", "fever", "pain"]).tolist() == [2, 1, -1]
