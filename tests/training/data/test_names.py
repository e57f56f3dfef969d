"""Names as arrays."""

import numpy as np

from training.data.names import read_names, string_hash
from training.recipe.settings import DataSettings


def test_names_are_those_of_the_knowledge_base(tiny_kb):
    names = read_names(tiny_kb)
    assert names.trainable.all()
    assert (np.diff(names.concepts) >= 0).all()
    for position, row in enumerate(names.rows.tolist()):
        name = tiny_kb.name_at(row)
        assert names.texts[position] == name.text
        assert names.strings[position] == string_hash(name.text)
        concept = tiny_kb.concept_at(int(names.concepts[position]))
        assert name in concept.names


def test_rows_to_skip_are_not_there(tiny_kb):
    names = read_names(tiny_kb, skip=[0, 5])
    assert not {0, 5} & set(names.rows.tolist())
    assert len(names) == len(read_names(tiny_kb)) - 2


def test_other_languages_and_obsolete_names_stay_but_are_not_trained_on(tiny_kb):
    everything = read_names(tiny_kb)
    names = read_names(tiny_kb, how=DataSettings(languages=("en",), obsolete=False))
    assert names.rows.tolist() == everything.rows.tolist()
    for row, trainable in zip(names.rows.tolist(), names.trainable.tolist(), strict=True):
        name = tiny_kb.name_at(row)
        assert trainable == (name.lang == "en" and not name.obsolete)
    assert not names.trainable.all()
