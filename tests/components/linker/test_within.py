"""`within`: a pipeline links to a part of the hierarchy alone, however it is told so."""

import pytest

from spacy_medlink.errors import MedlinkError
from tests.pipelines import finder
from tests.tiny import concept

CONCEPTS = {
    "1": ("Clinical finding", ()), "2": ("Disease", ("1",)), "3": ("Lung disease", ("2",)),
    "4": ("Asthma attack", ("3",)), "5": ("Heart attack", ("2",)), "6": ("Panic attack", ("1",)),
    "7": ("Air attack", ()),
}  # fmt: skip
DISEASES = "<< 2 |Disease (disorder)|"


RECORDS = [concept(id, name, parents=parents) for id, (name, parents) in CONCEPTS.items()]
ENCODED = True


def pipeline(assets, **config):
    config = {"force_within_filter": True, "calibrator": False, "top_k": 10, **config}
    return finder(assets, linking=config)


@pytest.mark.parametrize("tiers", [["exact"], ["ngram"], ["dense"], None])
@pytest.mark.parametrize(
    ("within", "ids"),
    [
        (None, set(CONCEPTS)), (DISEASES, {"2", "3", "4", "5"}), ("< 1 MINUS << 2", {"6"}),
        ("> 4", {"1", "2", "3"}), (f"{DISEASES} AND (4 OR 7)", {"4"}),
    ],
)  # fmt: skip
def test_every_tier_keeps_to_it(assets, tiers, within, ids):
    nlp = pipeline(assets, tiers=tiers, within=within)
    linker = nlp.get_pipe("medical_linker")
    names = [CONCEPTS[id][0] for id in sorted(ids)]
    assert [link.id for link in linker.link_texts(names)] == sorted(ids)
    outside = [name for id, (name, _) in CONCEPTS.items() if id not in ids]
    for link in linker.link_texts(outside):
        assert {one.id for one in link.candidates} <= ids
    called = pipeline(assets, tiers=tiers).get_pipe("medical_linker")
    assert [link.id for link in called.link_texts(names, within=within)] == sorted(ids)


def test_a_pipeline(assets):
    text = "A heart attack, no asthma attack, and a panic attack."
    nlp = pipeline(assets, within=DISEASES, force_within_filter=False)
    linker = nlp.get_pipe("medical_linker")

    def ids(nlp):
        return [ent.kb_id_ for ent in nlp(text).ents]

    assert ids(nlp) == ["5", "4"]  # medical_mentions does not find the other
    (link,) = linker.link_texts(["panic attack"])
    assert (link.id, link.reason) == ("NIL", "filtered")
    assert "within: << 2 |Disease" in str(linker.explain("panic attack"))
    linker.within = "< 1 MINUS << 2"
    assert ids(nlp) == ["6"]
    linker.within = None
    assert ids(nlp) == ["5", "4", "6"]


@pytest.mark.parametrize(
    ("within", "code"), [("<< 99", "E106"), ("<< 2 3", "E224"), (["<< 2"], "E302")]
)
def test_bad_expressions(assets, within, code):
    linker = pipeline(assets).get_pipe("medical_linker")
    with pytest.raises(MedlinkError, match=code):
        linker.link_texts(["attack"], within=within)
    if isinstance(within, str):
        with pytest.raises(MedlinkError, match=code):
            _ = pipeline(assets, within=within).get_pipe("medical_linker").engine
