"""What is not looked at in a very long document is said, once."""

import warnings

import pytest
import spacy
from spacy.tokens import Doc, Span

from spacy_medlink.components.linker import MedicalLinker


def spans_of(doc: Doc, length: int) -> list[Span]:
    starts = range(0, len(doc), length)
    return [Span(doc, start, start + length, label="DISEASE") for start in starts]


def test_a_mention_that_is_too_long_is_linked_as_it_is(tiny_assets):
    linker = MedicalLinker(spacy.blank("en").vocab, assets=tiny_assets.path)
    text = "heart attack (HA) " + "HA and fever " * 100

    def link() -> None:
        doc = spacy.blank("en")(text)
        doc.set_ents([Span(doc, 0, 2, label="A"), Span(doc, 5, len(doc), label="B")])
        assert [mention.long_form for mention in linker.mentions(doc)] == ["", ""]

    with pytest.warns(UserWarning, match=r"W340.*1,000 characters"):
        link()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        link()


@pytest.mark.parametrize(("longs", "told"), [(1_000, 0), (2_500, 1)])
def test_abbreviations_of_very_many_mentions(tiny_assets, longs, told, recwarn):
    linker = MedicalLinker(spacy.blank("en").vocab, assets=tiny_assets.path)
    words = ["HAD", "heart", *(f"word{number}" for number in range(longs))]
    doc = Doc(linker.vocab, words=words)
    linker.mentions(doc, spans_of(doc, 1))
    messages = [str(warning.message) for warning in recwarn]
    assert len(messages) == told
    assert all("W340" in message and "2,000" in message for message in messages)
