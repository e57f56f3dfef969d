"""What the built-in terminology links in the clinical notes, judged by hand."""

import pytest

from benchmarks.clinical_notes import RIGHT, WRONG, judged, links, pipeline


@pytest.mark.filterwarnings("ignore:.*W101")
def test_every_link_of_the_starter_is_judged_and_right() -> None:
    counts, unjudged = judged(links(pipeline(None)), "starter")
    assert not unjudged
    assert counts[WRONG] == 0
    assert counts[RIGHT] >= 134
