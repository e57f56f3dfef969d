from spacy_medlink.assets import Assets
from spacy_medlink.evaluation.measurement import alone, default_linker
from spacy_medlink.retrieval.filters import Filter
from spacy_medlink.types import Mention
from tests.tiny import concept

# One concept with far more names than a tier proposes, and a few beside it.
RECORDS = [
    concept("C1", *(f"acute fever of kind {number}" for number in range(90))),
    *(concept(f"D{number}", f"fever number {number}") for number in range(9)),
]


def test_more_names_are_asked_for_only_where_the_depth_needs_them(assets: Assets) -> None:
    asked = [Mention("acute fever of kind")]
    (shallow,) = default_linker(assets, ["ngram"], 1).rank(asked, 1)
    (deep,) = default_linker(assets, ["ngram"], 50).rank(asked, 5)
    assert [one.row for one in shallow] == [0]
    assert len(deep) == 5
    assert deep[0].row == shallow[0].row


def test_one_tier_alone_keeps_the_settings_and_nothing_that_was_learned(assets: Assets) -> None:
    linker = default_linker(assets, ["exact", "ngram"], 3).using(only=Filter.of(allow=["D3"]))
    own = alone(linker, "exact", assets)
    assert own.parts.tier_names == ["exact"]
    assert (own.parts.memory, own.parts.rescorer, own.parts.calibrator) == (None,) * 3
    assert own.parts.fusion.weights == {"exact": 1.0}
    assert [one.row for one in own.rank([Mention("fever number 3")], 5)[0]] == [4]
    assert own.rank([Mention("fever number 4")], 5) == [[]]
