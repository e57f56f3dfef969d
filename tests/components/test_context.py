"""`medical_context` in pipelines: attributes, sections, its own cues, saving."""

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_medlink.annotate.records import record_of_link
from spacy_medlink.components.context import ATTRIBUTES, MedicalContext
from spacy_medlink.components.pipelines import open_pipeline
from spacy_medlink.errors import MedlinkError
from spacy_medlink.types import Concept, Name
from tests.pipelines import pipeline

TEXT = "Family history: asthma.\n\nNo fever. Possible heart attack."
OWN = "negated\tforward\tnix\nsection\tjunk: historical\tattic\n"


def _nlp(**settings: object) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_context", config=settings)
    return nlp


def _doc(nlp: Language, text: str, *mentions: str) -> Doc:
    doc = nlp.make_doc(text)
    places = [(text.index(one), text.index(one) + len(one)) for one in mentions]
    doc.set_ents([span for place in places if (span := doc.char_span(*place, "X"))])
    return doc


def _said(doc: Doc) -> list[tuple[str, list[str], str]]:
    return [
        (ent.text, [kind for kind, name in ATTRIBUTES.items() if ent._.get(name)], ent._.section)
        for ent in doc.ents
    ]


WANTED = [
    ("asthma", ["family"], "family_history"),
    ("fever", ["negated"], ""),
    ("heart attack", ["uncertain"], ""),
]


def test_mentions_and_sections_are_written():
    nlp = _nlp()
    doc = nlp(_doc(nlp, TEXT, "asthma", "fever", "heart attack"))
    assert _said(doc) == WANTED
    assert [(span.text, span.label_) for span in doc.spans["sections"]] == [
        ("Family history: asthma.", "family_history")
    ]


def test_what_is_said_again_replaces_what_was():
    nlp = _nlp()
    doc = nlp(_doc(nlp, TEXT, "fever"))
    doc.ents[0]._.is_family, doc.ents[0]._.section = True, "attic"
    assert _said(nlp(doc)) == [("fever", ["negated"], "")]


def test_span_groups_and_no_sections():
    nlp = _nlp(spans_key=["a", "b"], sections_key=None)
    doc = nlp.make_doc("No fever or cough")
    doc.spans["a"], doc.spans["b"] = [doc[1:2]], [doc[3:4], doc[1:4]]
    nlp(doc)
    assert "sections" not in doc.spans
    assert all(span._.is_negated for key in "ab" for span in doc.spans[key])


def test_a_file_of_the_users_stays(tmp_path):
    file = tmp_path / "cues.tsv"
    file.write_text(OWN)
    for settings in ({}, {"cues": str(file)}):
        with pytest.raises(MedlinkError, match="E12"):
            MedicalContext(spacy.blank("en").vocab, **settings).to_disk(tmp_path)
        assert file.read_text() == OWN


def test_a_language_without_cues_is_said(recwarn):
    nlp = spacy.blank("pt")
    nlp.add_pipe("medical_context")
    doc = nlp(_doc(nlp, "no febre", "febre"))
    assert _said(doc) == [("febre", [], "")]
    assert any("W244" in str(one.message) for one in recwarn)


@pytest.mark.parametrize(
    ("settings", "code"),
    [({"cues": ""}, "E302"), ({"spans_key": 1}, "E302"), ({"cues": "none.tsv"}, "E107")],
)
def test_bad_settings(settings, code):
    with pytest.raises(MedlinkError, match=code):
        MedicalContext(spacy.blank("en").vocab, **settings).initialize(list)


def test_a_document_that_fails_goes_to_the_error_handler():
    nlp = _nlp(spans_key="sc")
    failed: list[str] = []
    nlp.set_error_handler(lambda name, component, docs, error: failed.append(str(name)))
    Span.set_extension("is_family", getter=lambda span: 1 / 0, force=True)
    try:
        doc = nlp.make_doc("fever")
        doc.spans["sc"] = [doc[0:1]]
        list(nlp.pipe([doc]))
    finally:
        Span.remove_extension("is_family")
        Span.set_extension("is_family", default=False)
    assert failed == ["medical_context"]


@pytest.mark.parametrize(("lang", "has"), [("en", True), ("it", True), ("pt", False)])
def test_pipelines_over_assets_have_it(tiny_assets, lang, has):
    nlp = open_pipeline(str(tiny_assets.path), lang)
    assert ("medical_context" in nlp.pipe_names) is has
    if has and lang == "en":
        (fever,) = nlp("No fever.").ents
        assert fever._.is_negated


@pytest.mark.filterwarnings("ignore")  # of its dependencies
@pytest.mark.parametrize("ours_too", [False, True])
def test_medspacys_context_is_read_where_both_fit(tiny_assets, ours_too):
    """Both fit from Python 3.12 on; the attributes are the same, also with both in a pipeline."""
    pytest.importorskip("medspacy.context")
    nlp = pipeline(tiny_assets)
    nlp.add_pipe("sentencizer", first=True)
    nlp.add_pipe("medspacy_context")
    if ours_too:
        nlp.add_pipe("medical_context")
    (fever, asthma) = nlp("No fever. Mother had asthma.").ents
    negated, familial = record_of_link(fever), record_of_link(asthma)
    assert [key for key in ATTRIBUTES if negated[key]] == ["negated"]
    assert [key for key in ATTRIBUTES if familial[key]] == ["family"]


# What an NER gives as one entity: what is read of it, and what is said of that.
INSIDE = {
    "en": """
        no fever > fever: negated; denies any fever > fever: negated; fever denied > fever: negated
        possible asthma > asthma: uncertain; (r/o asthma) > asthma: uncertain
        s/p stroke > stroke: historical; stroke in childhood > stroke: historical
        no history of stroke > stroke: negated; risk of stroke > stroke: hypothetical
        her mother had asthma > asthma: family; asthma in mother > asthma: family; no > no:
        No light perception > No light perception:; absence seizure > absence seizure:
        no no light perception > no light perception: negated
        non-small cell lung cancer > non-small cell lung cancer:
        Family history of stroke > Family history of stroke:
    """,
    "es": """
        sin fiebre > fiebre: negated; posible asma > asma: uncertain; madre con asma > asma: family
        antecedentes de ictus > ictus: historical
    """,
    "de": """
        kein Fieber > Fieber: negated; Verdacht auf Asthma > Asthma: uncertain
        Mutter mit Asthma > Asthma: family; Z.n. Schlaganfall > Schlaganfall: historical
    """,
    "fr": """
        pas de fièvre > fièvre: negated; suspicion d'asthme > asthme: uncertain
        mère avec asthme > asthme: family; antécédents d'asthme > asthme: historical
    """,
    "it": """
        nega febbre > febbre: negated; possibile asma > asma: uncertain
        madre con asma > asma: family; storia di ictus > ictus: historical
    """,
}
NAMES = "fever asthma stroke fiebre asma ictus fièvre asthme Fieber Schlaganfall febbre".split()
NAMES += ["absence seizure", "non-small cell lung cancer", "Family history of stroke"]
NAMES += ["No light perception", "no"]
RECORDS = [Concept(text, text, (Name(text, ""),)) for text in NAMES]


@pytest.mark.parametrize("lang", INSIDE)
def test_cues_inside_a_mention_count(assets, lang):
    nlp = spacy.blank(lang)
    nlp.add_pipe("medical_linker", config={"assets": str(assets.path)})
    nlp.add_pipe("medical_context")
    for case in INSIDE[lang].strip().replace("\n", ";").split(";"):
        written, wanted = case.split(" > ")
        written, (read, kinds) = written.strip(), wanted.split(":")
        doc = nlp.make_doc(f"{written} today.")
        doc.set_ents([doc.char_span(0, len(written), "X", alignment_mode="expand")])
        (ent,) = nlp(doc).ents
        (_, said, _), start = _said(doc)[0], written.find(read)
        assert (ent._.reading or ent.text) == read, written
        assert ent._.name.lower() == read.lower(), written
        assert ent._.read_at == (None if read == written else [start, start + len(read)])
        assert sorted(said) == sorted(kinds.replace(",", " ").split()), written
        (again,) = nlp(doc).ents
        assert again._.name == ent._.name
        assert _said(doc)[0][1] == said
