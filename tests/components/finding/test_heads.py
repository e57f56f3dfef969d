"""Heads: which words end names, and so may end a run of words."""

import pytest

from spacy_medlink.components.finding.proposals import Heads

NAMES = [
    "Abnormal clavicle morphology", "Abnormality of the clavicle", "Clavicular sclerosis",
    "Clavicular fracture", "Broad clavicular heads", "Lateral clavicular hook", "Short clavicle",
    "Failure, Renal, Acute", "Renal cyst", "Renal agenesis", "Renal stones",
    "Carcinoma de colon", "Hook", "DEGENERATION OF LIVER", "Degeneration with spots",
    "Degeneration in old age", "Degeneration from drugs", "Degeneration due to age",
    "Myopia (disorder)", "High myopia (disorder)",
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
        ("macular degeneration", True),  # in capitals, and before other prepositions
        ("severe myopia", True),  # before a tag
        ("eye disorder", False),
        ("unknown", False),
        ("", False),
        ("of", False),
        ("!", False),
    ],
)
def test_ends(text: str, ends: bool) -> None:
    assert Heads(NAMES).ends(text) is ends


def test_few_names_refuse_little() -> None:
    assert all(Heads([name]).ends(name.split()[-1]) for name in NAMES)
    assert not Heads([]).ends("clavicle")
    assert Heads(["Renal cysts"]).words == {"renal", "cyst"}
