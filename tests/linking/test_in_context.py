"""Mentions whose vectors come from their context."""

import numpy as np
import pytest

from spacy_medlink.linking import Linker
from spacy_medlink.types import Mention


@pytest.fixture
def linker(tiny_assets):
    return tiny_assets.engine(calibrator=False)


def _saying(linker: Linker, name: str) -> bytes:
    """The vector of a name, as bytes."""
    assert linker.parts.encoder is not None
    return linker.parts.encoder.encode([name])[0].astype(np.float32).tobytes()


def _dense(linker: Linker, mentions: list[Mention]) -> list[int]:
    return [
        max(own, key=lambda one: one.scores.get("dense", 0.0)).row
        for own in linker.rank(mentions, 20)
    ]


def test_the_same_words_are_looked_up_by_each_vector(linker):
    kb = linker.parts.kb
    assert kb is not None
    fever, asthma = (_saying(linker, name) for name in ("Fever", "Asthma"))
    mentions = [Mention("it", vector=fever), Mention("it", vector=asthma), Mention("it")]
    rows = [kb.row_of("HP:0001945"), kb.row_of("HP:0002099")]
    assert _dense(linker, mentions)[:2] == rows
    assert _dense(linker, mentions[1::-1]) == rows[::-1], "from the cache, too"
    alone = linker.with_parts().rank(mentions[2:], 5)
    assert [one.score for one in linker.rank(mentions, 5)[2]] == [one.score for one in alone[0]]


def test_a_long_form_is_encoded_by_itself(linker):
    vector = _saying(linker, "Fever")
    said = Mention("PE", long_form="pulmonary embolism", vector=vector)
    plain = Mention("PE", long_form="pulmonary embolism")
    first, other = linker.rank([said, plain], 1)
    assert first[0].row == other[0].row and first[0].form == "pulmonary embolism"


def test_a_mention_in_context_is_no_settled_name(linker):
    usual = linker.using(exact_first=None)
    (free,) = usual.rank([Mention("fever")], 1)
    (read,) = usual.rank([Mention("fever", vector=_saying(linker, "Asthma"))], 1)
    assert "dense" not in free[0].scores and "dense" in read[0].scores
