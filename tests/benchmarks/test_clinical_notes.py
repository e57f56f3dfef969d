"""What the built-in terminology links in the clinical notes, judged by hand."""

import csv

import pytest

from benchmarks import note_languages
from benchmarks.clinical_notes import RIGHT, WRONG, judged, links, pipeline


@pytest.mark.filterwarnings("ignore:.*W101")
def test_every_link_of_the_starter_is_judged_and_right() -> None:
    counts, unjudged = judged(links(pipeline(None)), "starter")
    assert not unjudged
    assert counts[WRONG] == 0
    assert counts[RIGHT] >= 134


def test_the_note_of_each_language() -> None:
    with note_languages.NOTES.open(encoding="utf-8") as file:
        _, *notes = csv.reader(file, delimiter="\t")
    for _, text, *mentions in notes:
        assert all(mention in text for mention in mentions)
    english, czech, *_ = note_languages.rows(pipeline(None))
    assert english == {"language": "en", "right": "6 of 6", "missed": "", "other links": ""}
    assert czech["language"] == "cs" and "horečku" in str(czech["missed"])
