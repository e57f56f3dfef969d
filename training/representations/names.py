"""Names of concepts: which lie beside each other, in one language and across languages."""

from collections.abc import Iterator

import numpy as np

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import Errors, MedlinkError
from spacy_medlink.kb import KnowledgeBase

from .mcsm import encode_terms

_CONCEPTS, _NAMES = 20, 5  # of a picture; names that its concepts should have


def draw_names(kb: KnowledgeBase) -> list[tuple[str, str]]:
    """Draw concepts at random, those of five names or more first, and take all their names.

    RETURNS (List[Tuple[str, str]]): each name, and the preferred name of its concept.
    RAISES (MedlinkError): E407 when no concept has two names.
    """
    counts = np.bincount(kb.name_concepts())
    several = np.random.default_rng(0).permutation(np.flatnonzero(counts > 1))
    if not len(several):
        raise _lacking(kb, "concept with two names")
    first = np.argsort(-counts[several].clip(max=_NAMES), kind="stable")[:_CONCEPTS]
    concepts = [kb.concept_at(row) for row in several[first].tolist()]
    return [(name.text, concept.name) for concept in concepts for name in concept.names]


def translate(
    encoder: BiEncoder, id: str, names: KnowledgeBase, targets: KnowledgeBase
) -> Iterator[tuple[str, str, str, bool]]:
    """Find the English target of a concept's first name in each language (CODER, table 7).

    names (KnowledgeBase): has the concept. targets (KnowledgeBase): has the English names.
    RETURNS (Iterator[Tuple[str, str, str, bool]]): language, name, the English name that is nearest
        to it, and whether that is of the same concept.
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
    for (lang, name), at in zip(by_lang.items(), nearest.tolist(), strict=True):
        row, target = english[at]
        yield lang, name, target, targets.concept_at(row).id == id


def _lacking(kb: KnowledgeBase, what: str) -> MedlinkError:
    remedy = "Build it from a source that has some."
    return Errors.nothing_there(path=kb.path, what=what, remedy=remedy)
