"""spaCy's own entity_linker works with a knowledge base of ours: trained, saved, moved, loaded."""

import copy
import pickle
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry
from spacy.vocab import Vocab

from spacy_medlink.assets import Assets
from spacy_medlink.building import build_assets
from spacy_medlink.components.spacy_kb import MedlinkKB
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase

LOADER, EMPTY = "spacy-medlink.KBFromMedlink.v1", "spacy-medlink.EmptyKB.v1"
EMBOLISM, EFFUSION, DIABETES = "HP:0002204", "HP:0001698", "HP:0005978"
# "PE" is a name of two concepts, so that only the context can tell.
TEXTS = [
    ("The CT scan of the lung showed a PE today.", EMBOLISM),
    ("Clots in the lung, so PE is likely.", EMBOLISM),
    ("Anticoagulation for PE after the flight.", EMBOLISM),
    ("Echo showed PE around the heart today.", EFFUSION),
    ("The sac of the heart is filled, so PE is likely.", EFFUSION),
    ("Tamponade from PE after surgery.", EFFUSION),
]


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory, tiny_kb: Any, tiny_encoder: Path) -> Assets:
    return build_assets(tmp_path_factory.mktemp("spacy_kb") / "assets", tiny_kb.path, tiny_encoder)


@pytest.fixture
def kb(tiny_kb: KnowledgeBase) -> MedlinkKB:
    return MedlinkKB(Vocab(), 32).open(tiny_kb.path)


def _ids(kb: MedlinkKB, text: str) -> list[str]:
    doc = Doc(kb.vocab, words=text.split(" "))
    return [candidate.entity_ for candidate in kb.get_candidates(doc[:])]


def test_candidates_are_the_concepts_of_the_key(kb: MedlinkKB) -> None:
    assert _ids(kb, "type 2 diabetes") == [DIABETES]
    assert sorted(_ids(kb, "PE")) == sorted([EMBOLISM, EFFUSION])
    assert _ids(kb, "pe") == [], "a short upper-case name needs the same case"
    assert _ids(kb, "nothing of the kind") == []
    (candidate,) = kb.get_candidates(Doc(kb.vocab, words=["NIDDM"])[:])
    assert (candidate.alias_, candidate.prior_prob) == ("NIDDM", 1.0)
    shares = [candidate.prior_prob for candidate in kb.get_candidates(Doc(kb.vocab, ["PE"])[:])]
    assert shares == [0.5, 0.5]


def test_batch_gives_what_single_mentions_give(kb: MedlinkKB) -> None:
    doc = Doc(kb.vocab, words=["PE", "asthma", "PE", "nothing"])
    spans = [doc[index : index + 1] for index in range(len(doc))]
    batch = kb.get_candidates_batch(spans)
    alone = [kb.get_candidates(span) for span in spans]
    assert [[one.entity_ for one in own] for own in batch] == [
        [one.entity_ for one in own] for own in alone
    ]


def test_vectors_at_random_have_length_one_and_follow_words(kb: MedlinkKB) -> None:
    type_one, type_two, asthma = (
        np.array(kb.get_vector(id)) for id in ("HP:0100651", DIABETES, "HP:0002099")
    )
    assert np.isclose(np.linalg.norm(type_two), 1, atol=1e-6)
    assert type_one @ type_two > 0.3 > abs(asthma @ type_two)
    assert kb.get_vector("HP:0005965") == kb.get_vector(DIABETES), "merged ids lead to the new one"
    assert kb.get_vector("no such id") == [0.0] * 32


def test_vectors_of_assets_are_those_of_the_index(assets: Assets) -> None:
    kb = MedlinkKB(Vocab(), 64).open(assets.path)
    concept = assets.kb[DIABETES]
    assert kb.entity_vector_length == assets.encoder.dim == 32
    expected = assets.dense.vectors(np.array([concept.first_name]))[0]
    assert np.allclose(kb.get_vector(DIABETES), expected)


@pytest.mark.parametrize("with_index", [False, True])
def test_copies_of_every_kind_give_the_same(
    with_index: bool, kb: MedlinkKB, assets: Assets, tmp_path: Path
) -> None:
    original = MedlinkKB(Vocab(), 32).open(assets.path) if with_index else kb
    original.to_disk(tmp_path / "kb")
    from_bytes = MedlinkKB(Vocab(), 64).from_bytes(original.to_bytes())
    copies = [
        MedlinkKB(Vocab(), 64).from_disk(tmp_path / "kb"),
        from_bytes,
        pickle.loads(pickle.dumps(original)),
        pickle.loads(pickle.dumps(from_bytes)),
        copy.deepcopy(original),
    ]
    original.to_disk(tmp_path / "kb")  # over itself
    for other in copies:
        assert other.entity_vector_length == original.entity_vector_length == 32
        assert _ids(other, "PE") == _ids(original, "PE")
        assert other.get_vector(EMBOLISM) == original.get_vector(EMBOLISM)


def test_an_empty_one_can_be_saved_too(tmp_path: Path) -> None:
    empty = MedlinkKB(Vocab(), 16)
    assert empty.is_empty() and not empty.get_candidates(Doc(empty.vocab, ["PE"])[:])
    empty.to_disk(tmp_path / "kb")
    again = MedlinkKB(Vocab(), 64).from_disk(tmp_path / "kb")
    assert again.is_empty() and again.entity_vector_length == 16


def test_bytes_have_a_limit(kb: MedlinkKB) -> None:
    kb.max_bytes_size = 1
    with pytest.raises(MedlinkError, match="E303"):
        kb.to_bytes()


def test_a_wrong_path_is_said(tmp_path: Path) -> None:
    with pytest.raises(MedlinkError, match="E101"):
        registry.misc.get(LOADER)(str(tmp_path / "none.kb"))(Vocab())


# The component


@pytest.fixture(params=["kb", "assets"])
def source(request: pytest.FixtureRequest, tiny_kb: KnowledgeBase, assets: Assets) -> Path:
    return tiny_kb.path if request.param == "kb" else assets.path


@pytest.fixture
def trained(source: Path, tmp_path: Path) -> Iterator[Language]:
    """A pipeline whose entity_linker has seen TEXTS a few times; its source is gone."""
    moving = tmp_path / "source"
    (shutil.copytree if source.is_dir() else shutil.copy)(source, moving)
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    linker: Any = nlp.add_pipe(
        "entity_linker",
        config={
            "generate_empty_kb": {"@misc": EMPTY},
            "incl_prior": False,
            "use_gold_ents": True,
            "candidates_batch_size": 4,
        },
    )
    examples = [_example(nlp, text, id) for text, id in TEXTS]
    loader: Callable[[Vocab], MedlinkKB] = registry.misc.get(LOADER)(str(moving), width=32)
    linker.initialize(lambda: examples, nlp=nlp, kb_loader=loader)
    optimizer = nlp.create_optimizer()
    losses: list[float] = []
    for _ in range(30):
        losses.append(nlp.update(examples, sgd=optimizer, drop=0.0)["entity_linker"])
    assert losses[-1] < losses[0] / 2
    yield nlp


def _example(nlp: Language, text: str, id: str) -> Example:
    start = text.index("PE")
    doc = nlp.make_doc(text)
    doc.ents = [doc.char_span(start, start + 2, label="DISEASE")]
    links = {(start, start + 2): {id: 1.0}}
    nlp.get_pipe("sentencizer")(doc)
    gold = {"entities": [(start, start + 2, "DISEASE")], "links": links}
    return Example.from_dict(doc, {**gold, "sent_starts": [token.is_sent_start for token in doc]})


def _linked(nlp: Language) -> list[str]:
    found = []
    for text, _ in TEXTS:
        doc = nlp.make_doc(text)
        start = text.index("PE")
        doc.ents = [doc.char_span(start, start + 2, label="DISEASE")]
        found.append(nlp(doc).ents[0].kb_id_)
    return found


def test_entity_linker_learns_from_context_and_survives_saving(
    trained: Language, tmp_path: Path
) -> None:
    assert _linked(trained) == [id for _, id in TEXTS]
    from_bytes = type(trained).from_config(trained.config).from_bytes(trained.to_bytes())
    assert _linked(from_bytes) == [id for _, id in TEXTS]
    trained.to_disk(tmp_path / "pipeline")
    # Gone is what it came from, and moved is where it was saved.
    source = tmp_path / "source"
    shutil.rmtree(source) if source.is_dir() else source.unlink()
    (tmp_path / "pipeline").rename(tmp_path / "elsewhere")
    loaded = spacy.load(tmp_path / "elsewhere")
    assert isinstance(loaded.get_pipe("entity_linker").kb, MedlinkKB)
    assert _linked(loaded) == [id for _, id in TEXTS]


def test_loader_can_be_named_in_a_config(tiny_kb: KnowledgeBase) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("entity_linker", config={"generate_empty_kb": {"@misc": EMPTY}})
    loader = {"@misc": LOADER, "path": str(tiny_kb.path), "width": 24}
    nlp.config["initialize"]["components"] = {"entity_linker": {"kb_loader": loader}}
    nlp.initialize(lambda: [_example(nlp, text, id) for text, id in TEXTS])
    assert nlp.get_pipe("entity_linker").kb.entity_vector_length == 24
