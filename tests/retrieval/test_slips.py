"""A misspelt text means the one name from which its words differ by a letter."""

import pytest

from spacy_medlink.retrieval.added import exact_index
from spacy_medlink.retrieval.slips import without_slips

NAMES = ["Vertigo", "Acute renal failure", "Renal failure", "Myocardial infarction", "Pneumonia",
         "Taurine", "Systolic", "Famine", "Ketosis", "Edema", "Bowel lesion", "Bowel legion",
         "Nephritis", "Chronic kidney disease"]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("vertgio", "Vertigo"),  # swapped
        ("acute renal failrue", "Acute renal failure"),  # at an end that keys fold
        ("neumonia", "Pneumonia"),  # a silent letter is lost
        ("pneummonia", "Pneumonia"),  # doubled
        ("vertihgo", "Vertigo"),  # added
        ("nephrotis", "Nephritis"),  # the next key
        ("nephritys", "Nephritis"),  # the same sound
        ("myocardial infraction", "Myocardial infarction"),  # an ordinary word within a name
        ("cronic kidny disease", "Chronic kidney disease"),  # two words
        ("infraction", ""),  # an ordinary word alone
        ("tacrine", ""), ("asystolic", ""), ("amine", ""), ("ketone", ""),  # other substances
        ("edama", ""),  # too short
        ("bowel lesgion", ""),  # two names
        ("renal failure", ""),  # no slip
        ("", ""),
    ],
)  # fmt: skip
def test_the_name_that_a_slip_means(text: str, name: str) -> None:
    assert without_slips(exact_index(NAMES), text, "en") == name
