from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from training.papers.plan import read_layout
from training.papers.published import LAYOUTS


def test_medical_crossing_filters_by_both_references() -> None:
    layout = read_layout(LAYOUTS / "medical_crossing.cfg")
    settings = layout.settings("train.jsonl", ("dense",), baselines=True)
    assert settings.train == "train.jsonl" and settings.by_dictionary
    assert (settings.protocol, settings.ks, settings.tiers) == ("names", (1, 5), ("dense",))
    assert layout.pooling == "mean"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('paper = "sapbert"', "E502.*table.title"),
        ('title = "x"\npaper = "unheard-of"', "E502.*table.paper"),
        ('title = "x"\npaper = "sapbert"\nprotocol = "words"', "E502.*table.protocol"),
        ('title = "x"\npaper = "sapbert"\nks = [0]', "E502.*table.ks"),
        ('title = "x"\npaper = "sapbert"\ndepths = [1]', r"E501.*key in \[table\] 'depths'"),
        ("no equals sign", "E160.*bad.cfg"),
    ],
)
def test_layouts_that_cannot_be(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "bad.cfg"
    file.write_text(f"[table]\n{text}\n", encoding="utf-8")
    with pytest.raises(MedlinkError, match=f"(?s){message}"):
        read_layout(file)


def test_no_such_layout(tmp_path: Path) -> None:
    with pytest.raises(MedlinkError, match="E107"):
        read_layout(tmp_path / "none.cfg")
