"""Proposals: by a ranking that is known, and in a pipeline."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language

from spacy_medlink.assets import Assets
from spacy_medlink.building import build_assets
from spacy_medlink.components.finding.proposals import Proposer
from spacy_medlink.components.finding.words import Match, Tokens
from spacy_medlink.components.mentions import MedicalMentions
from spacy_medlink.errors import MedlinkError
from spacy_medlink.types import Candidate

NAMES = [
    "Bridged sella turcica", "Schwann cell tumour", "Lung cyst", "Congenital cystic lung",
    "Severe", "Abnormality of the ribs", "Congenital tumour",
]  # fmt: skip
BRIDGED, SCHWANN, CYST, CYSTIC, SEVERE, RIBS, TUMOUR = range(len(NAMES))
NEAR = {  # what a linker would say: row of the name, dense score
    "bridged lung turcica": (BRIDGED, 0.9),
    "Schwann cell": (SCHWANN, 0.95),
    "congenital lung cyst": (CYSTIC, 0.9),
    "severe lung cyst": (CYST, 0.97),
    "lung of ribs": (RIBS, 0.85),
    "congenital sella": (SEVERE, 0.99),
    "bridged ribs": (RIBS, 0.79),
    "tumour congenital": (TUMOUR, 0.9),
}


class Engine:
    """Ranks what is in NEAR, and notes what it was asked."""

    name_concept = np.arange(len(NAMES), dtype=np.int32)

    def __init__(self) -> None:
        self.asked: list[str] = []

    def rank(self, mentions: list[Any], k: int) -> list[list[Candidate]]:
        assert k == 1
        self.asked += [one.text for one in mentions]
        return [
            [Candidate(row=NEAR[one.text][0], name_row=NEAR[one.text][0], score=0.5,
                       scores={"dense": NEAR[one.text][1]})] if one.text in NEAR else []
            for one in mentions
        ]  # fmt: skip


def propose(text: str, *found: Match) -> tuple[list[str], list[str]]:
    engine = Engine()
    allowed = np.array([row for row in range(len(NAMES)) if row != SEVERE], dtype=np.uint32)
    # Not a Linker: what it says has to be known here.
    proposer = Proposer(engine, NAMES, allowed, 0.8, 8, "CONCEPT")
    doc = spacy.blank("en")(text)
    (matches,) = proposer.propose([Tokens(doc)], [found])
    assert not any(one.is_name for one in matches)
    return [doc[one.start : one.end].text for one in matches], engine.asked


@pytest.mark.parametrize(
    ("text", "proposed"),
    [
        ("a bridged lung turcica", ["bridged lung turcica"]),
        ("lung of ribs", ["lung of ribs"]),
        ("bridged ribs", []),  # not near enough
        ("Schwann cell", []),  # a part of a name
        ("tumour congenital", []),  # no name ends so
        ("congenital sella", []),  # its best name may not be found
        ("bridged lung, turcica", []),  # not over the end of a clause
        ("bridged lung and turcica", []),
        ('bridged lung "turcica"', []),
        ("", []),
    ],
)
def test_what_is_proposed(text: str, proposed: list[str]) -> None:
    assert propose(text)[0] == proposed


def test_only_words_of_names_are_asked_about() -> None:
    assert propose("we saw bridged lung yesterday with ribs")[1] == ["bridged lung"]
    assert propose("severe ribs")[1] == []  # of names that may not be found, neither


def test_beside_what_was_found() -> None:
    cyst = Match(1, 3, frozenset({1, 2}), (CYST,))
    # Another concept may be longer; the same one, or what only crosses, may not.
    assert propose("congenital lung cyst", cyst)[0] == ["congenital lung cyst"]
    assert propose("severe lung cyst", cyst)[0] == []
    crossing = Match(2, 4, frozenset({2, 3}), (RIBS,))
    proposed, asked = propose("congenital lung cyst ribs", crossing)
    assert proposed == []
    assert "congenital lung cyst" not in asked
    reading = Match(2, 6, frozenset({2, 5}), (RIBS,), "cyst ribs", False)
    assert propose("congenital lung cyst and lung ribs", reading)[0] == ["congenital lung cyst"]


def pipeline(assets: Assets, **config: Any) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions", config={"assets": str(assets.path), **config})
    nlp.add_pipe("medical_linker", config={"assets": str(assets.path)})
    return nlp


TEXT = "Diabetes pressure mellitus, high pressure; bronchial fever."


def found(nlp: Language, text: str = TEXT) -> list[tuple[str, str]]:
    return [(ent.text, ent.kb_id_) for ent in nlp(text).ents]


def test_in_a_pipeline(tiny_assets: Assets, tmp_path: Path) -> None:
    nlp = pipeline(tiny_assets, propose=0.0)
    ents = found(nlp)
    assert len(ents) == 2
    assert ents[0][0].endswith("mellitus")
    assert ents[1][0] == "bronchial fever"
    assert found(pipeline(tiny_assets, propose=1.0)) == [("fever", "HP:0001945")]
    nlp.to_disk(tmp_path / "nlp")
    assert found(spacy.load(tmp_path / "nlp")) == ents
    assert found(spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes())) == ents
    assert found(pickle.loads(pickle.dumps(nlp))) == ents
    alone = pickle.loads(pickle.dumps(nlp.get_pipe("medical_mentions")))
    assert [ent.text for ent in alone(nlp.make_doc(TEXT)).ents] == [text for text, _ in ents]
    for processes in (1, 2):
        docs = nlp.pipe([TEXT, "", TEXT], n_process=processes, batch_size=2)
        assert [[(ent.text, ent.kb_id_) for ent in doc.ents] for doc in docs] == [ents, [], ents]


def test_without_a_linker_to_ask(tiny_assets: Assets, tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions", config={"assets": str(tiny_assets.path), "propose": 0.8})
    with pytest.raises(MedlinkError, match=r"E302.*medical_linker"):
        nlp(TEXT)
    # Without an encoder it has nothing to say; with other assets, nothing that fits.
    bare = build_assets(tmp_path / "bare", tiny_assets.kb.path)
    with pytest.raises(MedlinkError, match=r"E302.*dense"):
        pipeline(bare, propose=0.8)(TEXT)
    nlp = pipeline(tiny_assets, propose=0.8)
    finder = nlp.get_pipe("medical_mentions")
    assert isinstance(finder, MedicalMentions)
    finder.use(other_assets(tmp_path).path)
    with pytest.raises(MedlinkError, match=r"E302.*same assets"):
        nlp(TEXT)
    for bad in (-0.1, 1.1):
        with pytest.raises(MedlinkError, match="E302"):
            pipeline(tiny_assets, propose=bad)


def other_assets(directory: Path) -> Assets:
    from spacy_medlink.kb import build_kb
    from spacy_medlink.types import Concept, Name

    build_kb(directory / "kb", [Concept("X", "Fever", (Name("Ribs"), Name("Fever")))])
    return build_assets(directory / "other", directory / "kb")
