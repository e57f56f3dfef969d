"""A misspelt text means the one name from which its words differ by a letter."""

from spacy_medlink.retrieval.added import exact_index
from spacy_medlink.retrieval.slips import without_slips
from tests.tables import table

NAMES = ["Vertigo", "Acute renal failure", "Renal failure", "Myocardial infarction", "Pneumonia",
         "Taurine", "Systolic", "Famine", "Ketosis", "Edema", "Bowel lesion", "Bowel legion",
         "Nephritis", "Chronic kidney disease"]  # fmt: skip


@table(__file__, "the_name_that_a_slip_means")
def test_the_name_that_a_slip_means(text: str, name: str) -> None:
    assert without_slips(exact_index(NAMES), text, "en") == name
