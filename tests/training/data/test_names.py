"""Names as arrays."""

from collections.abc import Sequence

import numpy as np

from training.data.names import TokenTable, read_names, string_hash
from training.recipe.settings import DataSettings


def _letters(texts: Sequence[str]) -> list[list[int]]:
    return [[ord(letter) for letter in text] for text in texts]


def _text(tokens: TokenTable, position: int) -> str:
    (pieces,) = tokens.take([position])
    return "".join(map(chr, pieces))


def test_token_table_gives_back_what_was_tokenised():
    texts = ["high fever", "", "DM", "hipertensión"]
    table = TokenTable.build(iter(texts), _letters)
    assert [_text(table, row) for row in range(4)] == texts
    assert table.take([2, 0]) == _letters(["DM", "high fever"])
    assert table.lengths().tolist() == [10, 0, 2, 12]
    assert len(TokenTable.build([], _letters)) == 0


def test_names_are_those_of_the_knowledge_base(tiny_kb):
    names = read_names(tiny_kb, _letters)
    assert names.trainable.all()
    assert (np.diff(names.concepts) >= 0).all()
    for position, row in enumerate(names.rows.tolist()):
        name = tiny_kb.name_at(row)
        assert _text(names.tokens, position) == name.text
        assert names.strings[position] == string_hash(name.text)
        concept = tiny_kb.concept_at(int(names.concepts[position]))
        assert name in concept.names


def test_rows_to_skip_are_not_there(tiny_kb):
    names = read_names(tiny_kb, _letters, skip=[0, 5])
    assert not {0, 5} & set(names.rows.tolist())
    assert len(names) == len(read_names(tiny_kb, _letters)) - 2


def test_other_languages_and_obsolete_names_stay_but_are_not_trained_on(tiny_kb):
    everything = read_names(tiny_kb, _letters)
    names = read_names(tiny_kb, _letters, how=DataSettings(languages=("en",), obsolete=False))
    assert names.rows.tolist() == everything.rows.tolist()
    for row, trainable in zip(names.rows.tolist(), names.trainable.tolist(), strict=True):
        name = tiny_kb.name_at(row)
        assert trainable == (name.lang == "en" and not name.obsolete)
    assert not names.trainable.all()
