"""Names of concepts: which lie beside each other, in one language and across languages."""

from typing import NamedTuple

import numpy as np

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import Errors, MedlinkError
from spacy_medlink.kb import KnowledgeBase

from .mcsm import encode_terms

_CONCEPTS, _NAMES = 20, 5  # of a picture; names that its concepts should have


class NamesOfConcepts(NamedTuple):
    """Names, n in all, and beside each the preferred name of its concept."""

    names: list[str]
    concepts: list[str]


def draw_names(kb: KnowledgeBase, seed: int = 0) -> NamesOfConcepts:
    """Draw concepts at random, those of five names or more first, and take all their names.

    RAISES (MedlinkError): E407 when no concept has two names.
    """
    counts = np.bincount(kb.name_concepts())
    several = np.random.default_rng(seed).permutation(np.flatnonzero(counts > 1))
    if not len(several):
        raise _lacking(kb, "concept with two names")
    first = np.argsort(-counts[several].clip(max=_NAMES), kind="stable")[:_CONCEPTS]
    concepts = [kb.concept_at(row) for row in several[first].tolist()]
    own = [(name.text, concept.name) for concept in concepts for name in concept.names]
    return NamesOfConcepts([name for name, _ in own], [concept for _, concept in own])


class Translation(NamedTuple):
    """A name, and the English name that is nearest to it. right (bool): of the same concept."""

    lang: str
    name: str
    target: str
    right: bool


def translate(
    encoder: BiEncoder, id: str, names: KnowledgeBase, targets: KnowledgeBase
) -> list[Translation]:
    """Find the English target of a concept's first name in each language (CODER, table 7).

    names (KnowledgeBase): has the concept. targets (KnowledgeBase): has the English names.
    RAISES (MedlinkError): E106 without the concept, E407 without an English name.
    """
    by_lang: dict[str, str] = {}
    for own in names[id].names:
        by_lang.setdefault(own.lang, own.text)
    by_lang.pop("en", None)
    english = [(row, name.text) for row, name in targets.iter_names() if name.lang == "en"]
    if not english:
        raise _lacking(targets, "English name")
    vectors = encode_terms(encoder, [*by_lang.values()])
    nearest = (vectors @ encode_terms(encoder, [text for _, text in english]).T).argmax(axis=1)
    of_concept = targets.name_concepts()
    found = []
    for (lang, name), (row, text) in zip(
        by_lang.items(), (english[at] for at in nearest.tolist()), strict=True
    ):
        target = targets.concept_at(int(of_concept[row])).id
        found.append(Translation(lang, name, text, target == id))
    return found


def _lacking(kb: KnowledgeBase, what: str) -> MedlinkError:
    remedy = "Build it from a source that has some."
    return Errors.nothing_there(path=kb.path, what=what, remedy=remedy)
