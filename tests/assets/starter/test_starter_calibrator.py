"""The starter's calibrator, which is shipped: what it says, and that it is what a build fits."""

import json

import pytest
import spacy

from spacy_medlink.assets.starter import FITTED, starter_assets
from spacy_medlink.assets.starter.calibration import fit_starter
from spacy_medlink.linking.calibrator import MODELS


def test_it_is_what_a_build_fits():
    """Else write it again: `python -m spacy_medlink.assets.starter.calibration`."""
    shipped, fitted = json.loads(FITTED.read_text(encoding="utf-8")), fit_starter()
    assert shipped["facts"]["examples"] == fitted["facts"]["examples"]
    assert shipped["facts"]["threshold"] == pytest.approx(fitted["facts"]["threshold"], abs=1e-3)
    for model in MODELS:
        own, other = shipped["calibrator"][model], fitted["calibrator"][model]
        for name in ("mean", "scale", "weights", "bias"):
            assert own[name] == pytest.approx(other[name], abs=0.02), name  # solvers differ
    assert shipped["calibrator"]["fitted_for"] == fitted["calibrator"]["fitted_for"]


@pytest.mark.filterwarnings("ignore:.*W101")
def test_the_starter_links_names_and_leaves_nothing_alone():
    linker = spacy.blank("en").add_pipe("medical_linker")
    names = {
        "heart attack": "C0027051", "diabetes type 2": "C0011860", "HTN": "C0020538",
        "renal failure": "C0035078", "asma": "C0004096", "severe headache": "C0018681",
    }  # fmt: skip
    assert {text: linker.link_texts([text])[0].id for text in names} == names
    nothing = ["xyzzy plugh", "water pill", "lead free", "hot flashes", "NSTEMIX", "new patient"]
    for link in linker.link_texts([*nothing, *names]):
        assert not link.candidates or link.candidates[0].prob is not None
    assert {link.id for link in linker.link_texts(nothing)} == {"NIL"}
    assert starter_assets().manifest["calibrator"]["fitted_on"] == {
        "names": "of the knowledge base"
    }
