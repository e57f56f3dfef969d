from pathlib import Path

import pytest

from spacy_medlink.assets import Assets
from spacy_medlink.building import build_assets
from spacy_medlink.kb import build_kb
from spacy_medlink.measuring.engines import Engines
from spacy_medlink.retrieval.filters import Filter
from spacy_medlink.retrieval.ngram import NgramIndex
from spacy_medlink.types import Concept, Mention, Name

# One concept with far more names than a tier proposes, and a few beside it.
CONCEPTS = [
    Concept(
        "C1",
        "acute fever of kind 0",
        tuple(Name(f"acute fever of kind {number}") for number in range(90)),
    ),
    *(
        Concept(f"D{number}", f"fever number {number}", (Name(f"fever number {number}"),))
        for number in range(9)
    ),
]


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Assets:
    place = tmp_path_factory.mktemp("engines")
    build_kb(place / "kb", CONCEPTS)
    return build_assets(place / "assets", place / "kb")


def test_more_names_are_asked_for_only_where_the_depth_needs_them(assets: Assets) -> None:
    asked = [Mention("acute fever of kind")]
    (shallow,) = Engines(assets, 1).make(["ngram"]).rank(asked, 64)
    (deep,) = Engines(assets, 5).make(["ngram"]).rank(asked, 64)
    assert [one.row for one in shallow] == [0]
    assert len(deep) == len(CONCEPTS)
    assert deep[0].row == shallow[0].row


def test_what_one_engine_searched_another_need_not(
    assets: Assets, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[int] = []
    search = NgramIndex.search

    def counting(self: NgramIndex, texts: list[str], *given: object) -> object:
        searched.append(len(texts))
        return search(self, texts, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(NgramIndex, "search", counting)
    engines = Engines(assets, 2)
    asked = [Mention("fever"), Mention("number 3"), Mention("kind 8")]
    together, alone = engines.make(["exact", "ngram"]), engines.make(["ngram"])
    first = together.rank(asked, 2)
    assert alone.rank(asked, 2) and searched == [3]
    assert alone.rank([Mention("another fever")], 2) and searched == [3, 1]
    fresh = assets.engine(["exact", "ngram"], names_per_tier=64).rank(asked, 2)
    assert first == fresh
    assert together.rank([Mention("fever")], 2, only=Filter.of(allow=["D3"]))[0][0].row == 4


def test_assets_without_the_tier_stay_without(assets: Assets) -> None:
    assert Engines(assets, 3).make(["exact"]).ngram is None


def test_engines_do_not_change_the_assets(assets: Assets, tmp_path: Path) -> None:
    Engines(assets, 3).make(["ngram"])
    assert type(assets.ngram) is NgramIndex
