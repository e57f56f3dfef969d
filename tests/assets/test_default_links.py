"""What assets over a real terminology link by default, without an encoder."""

import pytest
from spacy.vocab import Vocab

from spacy_medlink.components.linker import MedicalLinker
from spacy_medlink.kb.readers import read
from tests.tiny import assets_of

NOTHING = ["xyzzy plugh", "CABG", "water pill", "lead free", "hot flashes", "the patient was seen"]
LETTER = [
    "rheumatoid arthritis", "Crohn's disease", "hypertension", "asthma", "migraine", "COPD",
    "atrial fibrillation", "gout", "psoriasis", "pneumonia", "heart failure", "fever",
    "multiple sclerosis", "Parkinson's disease", "hypothyroidism", "osteoporosis", "anemia",
    "hearing loss", "celiac disease", "epilepsy", "stroke", "obesity", "headache",
    "Down syndrome", "cystic fibrosis", "depression", "seizures", "type 2 diabetes",
]  # fmt: skip

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def linker(data_dir, tmp_path_factory):
    place = tmp_path_factory.mktemp("open_umls")
    assets = assets_of(place, read("jsonl", data_dir / "open_umls.kb.jsonl.gz"))
    return MedicalLinker(Vocab(), assets=assets.path)


def test_what_is_nothing_is_not_linked(linker):
    assert {link.id for link in linker.link_texts(NOTHING)} == {"NIL"}


def test_the_mentions_of_a_letter_are_linked(linker):
    links = linker.link_texts(LETTER)
    assert sum(link.id != "NIL" for link in links) >= 26
    for link in links:
        assert link.candidates[0].prob is not None


def test_a_preferred_name_is_surer_than_a_synonym_and_that_than_a_slip_of_it(linker):
    links = linker.link_texts(["arthritis or polyarthritis, rheumatic", "rheumatoid arthritis"])
    assert {link.id for link in links} == {"C0003873"}
    preferred, synonym = (link.candidates[0].prob for link in links)
    assert preferred > synonym >= linker.assets.calibrator.threshold
    (slip,) = linker.link_texts(["rheumatoid arthitis"])
    assert slip.id == "C0003873" and slip.candidates[0].prob <= synonym
