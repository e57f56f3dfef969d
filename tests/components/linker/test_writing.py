"""What is written on spans: as spaCy's own attributes would hold it, setters included."""

import pytest
from spacy.tokens import Span

from spacy_medlink.components.extensions import SPAN_ATTRIBUTES
from spacy_medlink.components.linker.annotation import Link
from tests.pipelines import doc_with, pipeline


def test_a_link_has_the_attributes_in_their_order():
    assert Link._fields == ("id", *SPAN_ATTRIBUTES)


@pytest.mark.parametrize("prefix", ["", "mine_"])
def test_it_is_written_where_spacy_writes_it(tiny_assets, prefix):
    nlp = pipeline(tiny_assets, mentions=False, prefix=prefix)
    linker = nlp.get_pipe("medical_linker")
    doc, other = (doc_with(nlp, "fever, asthma and pneumonia", "fever", "asthma") for _ in "12")
    (links,) = linker.predict([other])
    for span, link in zip(other.ents, links, strict=True):
        for name in SPAN_ATTRIBUTES:
            span._.set(prefix + name, getattr(link.plain(), name))
    assert list(linker(doc).user_data.items()) == list(other.user_data.items())


def test_a_setter_of_the_users_is_called(tiny_assets):
    nlp = pipeline(tiny_assets, mentions=False, prefix="told_")
    told = []
    Span.set_extension(
        "told_cui",
        getter=lambda span: told[-1],
        setter=lambda span, cui: told.append((span.text, cui)),
        force=True,
    )
    try:
        doc = nlp(doc_with(nlp, "fever and asthma", "fever", "asthma"))
    finally:
        Span.set_extension("told_cui", default=None, force=True)
    assert told == [("fever", "HP:0001945"), ("asthma", "HP:0002099")]
    assert all(ent._.told_candidates for ent in doc.ents)
    assert not any(key[1] == "told_cui" for key in doc.user_data)


def test_without_its_attribute_spacys_own_error_is_raised(tiny_assets):
    nlp = pipeline(tiny_assets, mentions=False, prefix="gone_")
    Span.remove_extension("gone_parts")
    try:
        with pytest.raises(AttributeError, match="gone_parts"):
            nlp(doc_with(nlp, "fever", "fever"))
    finally:
        Span.set_extension("gone_parts", default=[])
