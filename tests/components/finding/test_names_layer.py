"""The layer by which an NER sees what the dictionary finds."""

import numpy as np
import pytest
import spacy
from spacy.ml.models.tok2vec import MultiHashEmbed
from spacy.tokens import Span

from spacy_medlink.components.finding.names_layer import with_names


@pytest.fixture
def model():
    embed = MultiHashEmbed(width=8, attrs=["NORM"], rows=[50], include_static_vectors=False)
    return with_names(embed, width=6)


def test_vectors_tell_where_in_a_name_a_token_is(model):
    nlp = spacy.blank("en")
    bare, seen = nlp("a b c d a"), nlp("a b c d a")
    seen.spans["names"] = [Span(seen, 0, 1), Span(seen, 1, 4)]
    empty = nlp("")
    model.initialize(X=[bare, seen])
    without, with_names, nothing = model.predict([bare, seen, empty])
    assert without.shape == with_names.shape == (5, 6) and nothing.shape == (0, 6)
    assert np.array_equal(without[4], with_names[4])  # outside
    assert not np.allclose(without[:4], with_names[:4])
    seen.spans["names"] = [Span(seen, 1, 4), Span(seen, 0, 4)]  # within another
    assert not np.allclose(model.predict([seen])[0][0], with_names[0])


def test_it_learns(model):
    doc = spacy.blank("en")("x y")
    doc.spans["names"] = [Span(doc, 0, 1)]
    model.initialize(X=[doc])
    (found,), backprop = model.begin_update([doc])
    backprop([np.ones_like(found)])
    tables = [node for node in model.walk() if node.name == "hashembed"]
    assert len(tables) == 2 and all(table.has_grad("E") for table in tables)
