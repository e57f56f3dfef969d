"""Pieces decide what a mention is, whatever tokens a pipeline has."""

import re

import pytest
from spacy.tokens import Doc

from spacy_medlink.types import Concept, Name
from tests.pipelines import finder
from tests.tiny import assets_of

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


@pytest.fixture(scope="module")
def assets(tmp_path_factory):
    directory = tmp_path_factory.mktemp("tokens")
    return assets_of(directory, (Concept(text, text, (Name(text),)) for text in NAMES))


@pytest.mark.parametrize("pattern", TOKENS.values(), ids=TOKENS)
def test_the_same_mentions_with_any_tokenizer(assets, pattern):
    doc = pipeline(assets, pattern)(TEXT)
    assert doc.text == TEXT
    assert [ent.text for ent in doc.ents] == MENTIONS
    assert [ent._.cui for ent in doc.ents] == NAMES


def test_tokens_with_a_transformers_vectors_stay(assets):
    """Of several mentions in one token one is an entity; what it says is its reading."""
    nlp = pipeline(assets, TOKENS["white space"])
    if not Doc.has_extension("trf_data"):
        Doc.set_extension("trf_data", default=None)
    doc = nlp.make_doc("Metformin500mg for fever,cough/chest pain")
    words = [token.text for token in doc]
    doc._.trf_data = object()
    for _, component in nlp.pipeline:
        doc = component(doc)
    assert [token.text for token in doc] == words
    assert [(ent.text, ent._.reading, ent._.cui) for ent in doc.ents] == [
        ("Metformin500mg", "Metformin", "Metformin"),
        ("fever,cough/chest pain", "chest pain", "Chest pain"),
    ]
