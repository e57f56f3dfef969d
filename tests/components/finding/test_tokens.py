"""Pieces decide what a mention is, whatever tokens a pipeline has."""

import pickle
import re

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Token
from spacy.util import registry

from spacy_medlink import use_tokenizer
from tests.growth import calls, exponent, seconds
from tests.pipelines import finder

NAMES = ["Metformin", "Fever", "Cough", "Chest pain", "Addison disease", "Asthma"]
TEXT = "Metformin500mg for\nfever,cough/chest pain; Addison\u2019s disease. (asthma)"
MENTIONS = ["Metformin", "fever", "cough", "chest pain", "Addison\u2019s disease", "asthma"]

TOKENS = {
    "white space": r"\S+|\n",
    "PTB": r"\w+(?=[\u2019]s)|[\u2019]s|[\w/]+|[^\w\s]|\n",
    "scientific": r"[^\s;()]+|[;()]|\n",  # no infixes: "(+)-3-methyl,5/6" is a token
    "characters": r"\S|\n",
}


def pipeline(assets, pattern):
    def tokenize(text):
        runs = [found.span() for found in re.finditer(pattern, text)]
        follows = [text[end : end + 1] == " " for _, end in runs]
        return Doc(nlp.vocab, words=[text[a:b] for a, b in runs], spaces=follows)

    nlp = finder(assets, linking={})
    nlp.tokenizer = tokenize
    return nlp


@pytest.mark.parametrize("pattern", TOKENS.values(), ids=TOKENS)
def test_the_same_mentions_with_any_tokenizer(assets, pattern):
    doc = pipeline(assets, pattern)(TEXT)
    assert doc.text == TEXT
    assert [ent.text for ent in doc.ents] == MENTIONS
    assert [ent._.cui for ent in doc.ents] == NAMES


HANGING = {
    "a value that may be of tokens": lambda doc: doc._.set("carried", [1]),
    "a value of a token": lambda doc: doc[0]._.set("carried", "x"),
    "user data": lambda doc: doc.user_data.update({(0, 1): "x"}),
    "a tensor": lambda doc: setattr(doc, "tensor", np.ones((len(doc), 2))),
    "tags": lambda doc: setattr(doc[0], "tag_", "NN"),
    "morphology": lambda doc: doc[0].set_morph("Number=Sing"),
    "heads": lambda doc: setattr(doc[1], "head", doc[0]),
    "a sentence": lambda doc: setattr(doc[1], "is_sent_start", False),
    "a span group": lambda doc: doc.spans.update({"x": [doc[0:1]]}),
    "no entity": lambda doc: doc.set_ents([], default="outside"),
}


@pytest.mark.parametrize("hang", HANGING.values(), ids=HANGING)
def test_tokens_stay_where_something_hangs_on_them(assets, hang):
    """Of several mentions in one token one is an entity; what it says is its reading."""
    for kind in (Doc, Token):
        if not kind.has_extension("carried"):
            kind.set_extension("carried", default=None)
    nlp = pipeline(assets, TOKENS["white space"])
    doc = nlp.make_doc("Metformin500mg for fever,cough/chest pain")
    words = [token.text for token in doc]
    hang(doc)
    with pytest.warns(UserWarning, match="W107.*'Metformin' within the token 'Metformin500mg'"):
        doc = nlp(doc)
    assert [token.text for token in doc] == words
    assert [(ent.text, ent._.reading, ent._.read_at, ent._.cui) for ent in doc.ents] == [
        ("Metformin500mg", "Metformin", [0, 9], "Metformin"),
        ("fever,cough/chest pain", "chest pain", [31, 41], "Chest pain"),
    ]


def test_tokens_are_split_where_only_texts_hang_on_the_doc(assets):
    nlp = pipeline(assets, TOKENS["white space"])
    doc = nlp.make_doc("Metformin500mg")
    doc.user_data["note"] = "17"
    assert [token.text for token in nlp(doc)] == ["Metformin", "500mg"]


CUTS = """
asthma ; pneumonia / HTN . T2DM / fever + cough / HTN & DM / 1 . asthma / cough + / 2 ) pneumonia
asthma ( mild ) / insulin : 10u / aspirin - 81 / lisinopril -> losartan / - SOB / asthma \xb9
fever : N / 2 + edema / asthma _ fever / metformin 500 mg / a;b / CD4 + / HTN ; DM ; CAD
"""
KEPT = (
    "1,000 120/80 10:30am 2024-05-12 COVID-19 IL-2 46,XX E.coli A&E K+ Ph.D. U.S. c.35delG B12 n't"
)
KEPT += " a.b@c.org https://x.org/a;fever www.nhs.uk/a;fever example.com/fever+cough d/o"


def test_the_tokenizer_cuts_between_mentions():
    nlp = use_tokenizer(spacy.blank("en"))
    cases = [case.split() for case in CUTS.replace("\n", " / ").split(" / ") if case]
    assert [[token.text for token in nlp.make_doc("".join(case))] for case in cases] == cases
    plain = spacy.blank("en")
    for text in KEPT.split():
        assert [*map(str, nlp.make_doc(text))] == [*map(str, plain.make_doc(text))]


@pytest.mark.parametrize("lang", ["en", "de", "fr", "es", "it", "zh"])
def test_the_tokenizer_is_kept(lang, tmp_path):
    """Norms stay as well, by which networks know words: "n't" is "not"."""
    text = "I don't know: asthma;fever."
    nlp = use_tokenizer(use_tokenizer(spacy.blank(lang)))
    want = [(token.text, token.norm_) for token in nlp(text)]
    assert ("fever", "fever") in want or lang == "zh"
    assert ("n't", "not") in want or lang != "en"
    nlp.to_disk(tmp_path)
    made = registry.tokenizers.get("spacy-medlink.Tokenizer.v1")()(spacy.blank(lang))
    others = [spacy.load(tmp_path), pickle.loads(pickle.dumps(nlp)), spacy.blank(lang)]
    made.from_bytes(nlp.tokenizer.to_bytes())
    others[2].tokenizer = made
    for other in others:
        assert [(token.text, token.norm_) for token in other(text)] == want
    assert [doc.text for doc in nlp.tokenizer.pipe([text])] == [text]


@pytest.mark.parametrize("unit", ["asthma;fever ", "asthma;", "((", "a,b+c&d ", "HTN+DM500mg"])
def test_the_tokenizer_takes_a_time_that_grows_with_the_text(unit):
    nlp = use_tokenizer(spacy.blank("en"))
    sizes = 2_000, 4_000, 8_000
    assert exponent({n: calls(nlp.make_doc, unit * n) for n in sizes}) < 1.1
    assert exponent({n: seconds(nlp.make_doc, unit * n) for n in sizes}) < 1.5
