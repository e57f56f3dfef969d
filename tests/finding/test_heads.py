"""Heads: which words end names, and so may end a run of words."""

import pytest

from spacy_medlink.finding.heads import Heads

NAMES = [
    "Abnormal clavicle morphology", "Abnormality of the clavicle", "Clavicular sclerosis",
    "Clavicular fracture", "Broad clavicular heads", "Lateral clavicular hook", "Short clavicle",
    "Failure, Renal, Acute", "Renal cyst", "Renal agenesis", "Renal stones",
    "Carcinoma de colon", "Hook",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("short clavicle", True),  # 1 of 3
        ("the abnormal clavicular", False),  # 0 of 4
        ("clavicular hook", True),
        ("failure of clavicular", True),  # what follows a link does not count
        ("acute failure", True),  # nor the order of an index
        ("failure renal", False),
        ("broad", True),  # in one name, of which nothing can be said
        ("carcinoma de colon", True),
        ("of carcinoma", True),
        ("carcinoma of unknown", True),
        ("unknown", False),
        ("", False),
        ("of", False),
        ("!", False),
    ],
)
def test_ends(text: str, ends: bool) -> None:
    assert Heads(NAMES).ends(text) is ends


def test_every_name_of_a_terminology_of_one_ends() -> None:
    assert all(Heads([name]).ends(name.replace(",", "")) for name in NAMES if ", " not in name)
    assert not Heads([]).ends("clavicle")
