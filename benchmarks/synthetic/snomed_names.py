"""Descriptions, text definitions and language reference sets of a synthetic SNOMED CT snapshot."""

import numpy as np

from benchmarks.synthetic.definitions import definitions
from benchmarks.synthetic.draws import Flags, Ints, Shuffle, bits, draw, scatter, unit
from benchmarks.synthetic.sctid import DESCRIPTION, sctids
from benchmarks.synthetic.snomed import (
    DIALECT,
    FIRST_ITEM,
    FIXED,
    MODULE,
    STATUS,
    TAGS,
    TEXT,
    Snapshot,
    table,
)
from benchmarks.synthetic.words import CORE_BITS, lexicon

FSN, SYNONYM, DEFINITION = 900000000000003001, 900000000000013009, 900000000000550004
CASE_INSENSITIVE = 900000000000448009
PREFERRED, ACCEPTABLE = 900000000000548007, 900000000000549004
US_ENGLISH, GB_ENGLISH, SPANISH = 900000000000509007, 900000000000508004, 448879004
NAME, OWNER = 70, 71  # streams of random numbers
TRANSLATED = {
    "disorder": "trastorno",
    "finding": "hallazgo",
    "substance": "sustancia",
    "procedure": "procedimiento",
    "body_structure": "estructura corporal",
    "product": "producto",
}


def description_rows(snapshot: Snapshot, first: int, last: int) -> dict[str, list[str]]:
    """Write the description files and language reference sets of English and Spanish.

    snapshot (Snapshot): the release. first, last (int): places among all descriptions.
    RETURNS (dict[str, list[str]]): rows of Description-en, -es, Language-en, -es.
    """
    number = Shuffle(snapshot.total, snapshot.seed + 2)(np.arange(first, last))
    concept = np.searchsorted(snapshot.offsets, number, side="right") - 1
    place = number - snapshot.offsets[concept]
    random = draw(snapshot.seed, STATUS, number + snapshot.concepts)
    spanish = np.where(place < FIXED, place >= 2, bits(random, 0, 4) < 5)
    fsn = (place == 0) | (place == 2)
    active = (place < FIXED) | (bits(random, 4, 8) >= 13)
    ids = sctids(FIRST_ITEM + 2 * number + bits(random, 12, 1), DESCRIPTION)
    rows = table(
        ids.tolist(),
        snapshot.dates(STATUS, number + snapshot.concepts),
        active.astype(int).tolist(),
        MODULE,
        snapshot.ids(concept),
        np.where(spanish, "es", "en").tolist(),
        np.where(fsn, FSN, SYNONYM).tolist(),
        terms(snapshot, concept, place, spanish.astype(int), fsn),
        CASE_INSENSITIVE,
    )
    american = ~spanish & ((place < FIXED) | (bits(random, 13, 4) > 0))
    rank = np.where(place < FIXED, PREFERRED, ACCEPTABLE)
    sets = ((~spanish, GB_ENGLISH), (american, US_ENGLISH), (spanish, SPANISH))
    dialects = []
    for i, (case, refset) in enumerate(sets):
        chosen = case & active
        start = snapshot.members(DIALECT + i, number[chosen])
        dialects.append(table(start, refset, ids[chosen].tolist(), rank[chosen].tolist()))
    return {
        "Description-en": [rows[i] for i in np.flatnonzero(~spanish).tolist()],
        "Description-es": [rows[i] for i in np.flatnonzero(spanish).tolist()],
        "Language-en": dialects[0] + dialects[1],
        "Language-es": dialects[2],
    }


def terms(snapshot: Snapshot, concept: Ints, place: Ints, language: Ints, fsn: Flags) -> list[str]:
    """Compose terms. The preferred term is the FSN without its tag.

    snapshot (Snapshot): the release. concept (Ints): whose terms, (n,).
    place (Ints): number of the description within its concept, (n,).
    language (Ints): 0 English, 1 Spanish, (n,). fsn (Flags): is it an FSN, (n,).
    RETURNS (list[str]): n terms.
    """
    place = np.where(place < FIXED, 0, place)
    name = draw(snapshot.seed, NAME, snapshot.offsets[concept] + place)
    alternate = (place > 0) & (bits(name, 46, 4) < 3)
    core = scatter(concept + np.where(alternate, 1 << (CORE_BITS - 1), 0), CORE_BITS, 0)
    style = np.where((place > 0) & (bits(name, 26, 2) == 0), 0, 1)
    owner = draw(snapshot.seed, OWNER, concept)
    out = lexicon(2).names(language, core, place, owner, name, style)
    kinds = snapshot.kinds(concept)
    for i in np.flatnonzero(fsn).tolist():
        tag = TAGS[kinds[i]]
        tag = TRANSLATED[tag] if language[i] else tag.replace("_", " ")
        out[i] += f" ({tag})"
    return out


def definition_rows(snapshot: Snapshot, first: int, last: int) -> list[str]:
    """Write the text definition file.

    snapshot (Snapshot): the release. first, last (int): active concepts.
    RETURNS (list[str]): rows, for 3 % of the concepts.
    """
    concepts = np.arange(first, last)
    random = draw(snapshot.seed, TEXT, concepts)
    chosen = unit(random) < 0.03
    concepts = concepts[chosen]
    # Above the identifiers of the descriptions, with which they share a partition.
    items = FIRST_ITEM + 2 * snapshot.total + concepts
    return table(
        sctids(items, DESCRIPTION).tolist(),
        snapshot.dates(TEXT, concepts),
        1,
        MODULE,
        snapshot.ids(concepts),
        "en",
        DEFINITION,
        definitions(random[chosen]),
        CASE_INSENSITIVE,
    )
