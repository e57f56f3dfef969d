"""Attributes of spans: names that are taken, one place with several labels, what is stored."""

import json
from contextlib import nullcontext

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.tokens.underscore import Underscore

from spacy_medlink.components import extensions as registry
from spacy_medlink.components.context import ATTRIBUTES
from spacy_medlink.components.extensions import PLAIN_ATTRIBUTES, SPAN_ATTRIBUTES
from spacy_medlink.errors import MedlinkError
from spacy_medlink.text.context import SECTION
from spacy_medlink.types import Concept, Name
from tests.children import python
from tests.pipelines import pipeline
from tests.tables import table
from tests.tiny import assets_of

TAKEN = {
    "getter": {"getter": lambda span: "theirs"},
    "method": {"method": lambda span: "theirs"},
    "default": {"default": "theirs"},
}


@pytest.fixture
def extensions(monkeypatch):
    """Let a test register what it likes."""
    monkeypatch.setattr(Underscore, "span_extensions", {**Underscore.span_extensions})
    monkeypatch.setattr(registry, "_PREFIXES", {**registry._PREFIXES})


@pytest.mark.parametrize("way", TAKEN)
@table(__file__, "a_name_that_something_else_has_is_an_error")
def test_a_name_that_something_else_has_is_an_error(extensions, factory, attribute, prefix, way):
    Span.set_extension(attribute, **TAKEN[way], force=True)
    nlp = spacy.blank("en")
    with pytest.raises(MedlinkError, match=rf"E331.*_\.{attribute}`.*`prefix`"):
        nlp.add_pipe(factory, config={"prefix": prefix} if prefix else {})
    if factory == "medical_linker":
        nlp.add_pipe("medical_linker", config={"prefix": "free_"})


@pytest.mark.parametrize("attribute", ["name", "is_family"])
def test_a_name_that_is_taken_later_is_an_error_too(extensions, tiny_assets, attribute):
    nlp = pipeline(tiny_assets)
    nlp.add_pipe("medical_context")
    assert nlp("fever").ents[0]._.name == "Fever"
    Span.set_extension(attribute, **TAKEN["method"], force=True)
    with pytest.raises(MedlinkError, match="E331"):
        nlp("fever")


def test_the_tables_have_the_attributes_of_the_components():
    assert {*PLAIN_ATTRIBUTES} == {"reading", "read_at", SECTION, *ATTRIBUTES.values()}


READ = """
import json, sys
{first}
{second}
from spacy.tokens import DocBin
from spacy.vocab import Vocab
(doc,) = DocBin().from_disk(sys.argv[1]).get_docs(Vocab())
print(json.dumps([[e._.cui, e._.name, e._.is_negated, e._.section, e._.reading] for e in doc.ents]))
"""


@pytest.mark.parametrize("order", [1, -1])
def test_importing_the_package_is_enough_to_read_docs(tiny_assets, tmp_path, order):
    nlp = pipeline(tiny_assets)
    nlp.add_pipe("medical_context")
    DocBin(docs=[nlp("No fever.")], store_user_data=True).to_disk(tmp_path / "docs")
    first, second = ["import spacy", "import spacy_medlink"][::order]
    code = READ.format(first=first, second=second)
    done = python("-c", code, tmp_path / "docs")
    assert json.loads(done.stdout) == [["HP:0001945", "Fever", True, "", ""]]


@pytest.fixture(scope="module")
def colds(tmp_path_factory):
    """Assets with one name for concepts of several types."""
    records = [
        Concept(id, name, (Name(name),), (type,))
        for id, name, type in (
            ("CD", "Cold", "T047"),
            ("CT", "Cold", "T070"),
            ("F", "Fever", "T047"),
            ("A", "Aspirin", "T121"),
        )
    ]  # fmt: skip
    return assets_of(tmp_path_factory.mktemp("colds"), records)


LABELS = {"DISEASE": ["T047"], "NATURE": ["T070"], "DRUG": ["T121"]}
RIGHT = {"DISEASE": "CD", "NATURE": "CT", "DRUG": "NIL", "LEFT": "", "": None}


def ways(doc: Doc):
    """List a Doc, and what spaCy makes of it."""
    (stored,) = DocBin(docs=[doc], store_user_data=True).get_docs(doc.vocab)
    return [
        doc, stored, doc.copy(), Doc(doc.vocab).from_bytes(doc.to_bytes()),
        Doc.from_docs([Doc(doc.vocab, ["Hot"]), doc]), doc[0:].as_doc(copy_user_data=True),
    ]  # fmt: skip


@pytest.mark.parametrize("keys", [["a", "b"], ["b", "a"], ["a"], None])
@pytest.mark.parametrize("prefix", ["", "p_"])
def test_spans_at_one_place_have_the_links_of_their_labels(colds, keys, prefix):
    """And those that were not linked have none."""
    settings = {"labels": LABELS, "labels_discard": ["LEFT"], "prefix": prefix, "spans_key": keys}
    nlp = pipeline(colds, mentions=False, **settings)
    doc = nlp.make_doc("Cold, fever")
    doc.spans["a"] = [Span(doc, 0, 1, label) for label in ("DISEASE", "NATURE", "LEFT")]
    doc.spans["b"] = [Span(doc, 0, 1, label) for label in ("DRUG", "DISEASE")]
    doc.set_ents([Span(doc, 0, 1, "NATURE"), Span(doc, 2, 3, "DISEASE")])
    for linked in ways(nlp(nlp(doc))):
        spans = [span for key in "ab" for span in linked.spans.get(key, ())]
        spans += linked.ents
        assert len({span.kb_id_ for span in spans}) > 1
        for span in spans:
            id = span.kb_id_ if span.kb_id_ not in ("", "NIL") else None
            ids = [*(first for first, _ in span._.get(f"{prefix}kb_ents")), None]
            assert span._.get(f"{prefix}cui") == id == ids[0]
            if span.label_ in RIGHT and span.text == "Cold":
                assert span.kb_id_ in ("", RIGHT[span.label_])
    assert doc[0:1]._.get(f"{prefix}cui") in ("CD", "CT", None)


def test_a_span_that_gets_another_label_keeps_its_link(colds):
    nlp = pipeline(colds, mentions=False, labels=LABELS, spans_key="a")
    doc = nlp.make_doc("Cold")
    doc.spans["a"] = [Span(doc, 0, 1, label) for label in ("DISEASE", "NATURE")]
    nlp(doc)
    for id in ("CD", "CT"):
        assert Span(doc, 0, 1, "NEW", kb_id=id)._.cui == id
    _, second = doc.spans["a"]
    second._.cui = "mine"
    assert [span._.cui for span in doc.spans["a"]] == ["CD", "mine"]


def test_values_that_are_false_are_stored(tiny_assets):
    nlp = pipeline(tiny_assets)
    nlp.add_pipe("medical_context")
    names = [*SPAN_ATTRIBUTES, *PLAIN_ATTRIBUTES]
    said = nlp("He has fever.").to_json(underscore=names)["underscore_span"]
    assert {*said} == {*names}
    assert said["is_negated"] == [{"start": 7, "end": 12, "value": False}]


class Unregistered(Language):
    """A language that spaCy does not know."""

    lang = "en-x-ward"


@pytest.mark.parametrize("language", [Language, Unregistered])
def test_a_language_that_spacy_does_not_know(tiny_assets, language):
    nlp = language()
    for name in ("medical_mentions", "medical_linker"):
        nlp.add_pipe(name, config={"assets": str(tiny_assets.path)})
    with_context = nlp.add_pipe("medical_context")
    with pytest.warns(UserWarning, match="W244") if language is Language else nullcontext():
        (doc,) = nlp.pipe(["He has fever."])
    assert [(ent.text, ent._.cui) for ent in doc.ents] == [("fever", "HP:0001945")]
    nlp.from_bytes(nlp.to_bytes())
    assert nlp("fever").ents[0].kb_id_ == "HP:0001945" and with_context.lang == (nlp.lang or "")
