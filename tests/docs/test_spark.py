"""The recipe for Spark, run over an iterator of DataFrames, as `mapInPandas` gives them."""

from collections.abc import Iterator
from typing import Any

import pytest

from spacy_medlink.assets import Assets
from tests.docs.markdown import ROOT, blocks_of


def _recipe(assets: str) -> Any:
    pages = blocks_of(ROOT / "docs" / "how-to.md")
    (block,) = [block for block in pages if "def link_notes" in block.text]
    space: dict[str, Any] = {}
    exec(block.text.replace("my.assets", assets), space)
    return space["link_notes"]


def test_over_data_frames(tiny_assets: Assets) -> None:
    pandas = pytest.importorskip("pandas")
    link_notes = _recipe(str(tiny_assets.path))

    def batches() -> Iterator[Any]:
        for number in range(2):
            notes = ["Fever and asthma.", "Nothing."]
            yield pandas.DataFrame({"note_id": [f"a{number}", f"b{number}"], "text": notes})

    frames = list(link_notes(batches()))
    assert [list(frame.columns) for frame in frames] == [
        ["note_id", "start", "end", "concept_id", "name"]
    ] * 2
    rows = [tuple(row) for frame in frames for row in frame.itertuples(index=False)]
    for number in range(2):
        assert (f"a{number}", 0, 5, "HP:0001945", "Fever") in rows
    assert not [row for row in rows if row[0].startswith("b")]
