"""A synthetic SNOMED CT snapshot: its concepts, and what relates them.

Rows of a concept are far apart, as the specification allows: nothing may rely on their order.
"""

from itertools import repeat

import numpy as np

from benchmarks.synthetic.draws import Ints, Shuffle, bits, draw, scatter, unit, zipf_counts
from benchmarks.synthetic.relations import SECOND, parents
from benchmarks.synthetic.sctid import CONCEPT, RELATIONSHIP, sctids
from benchmarks.synthetic.words import CORE_BITS

ROOT = 138875005
MODULE = 900000000000207008
PRIMITIVE, DEFINED = 900000000000074008, 900000000000073002
IS_A, FINDING_SITE = 116680003, 363698007
INFERRED, SOME = 900000000000011006, 900000000000451002
SAME_AS, REPLACED_BY = 900000000000527005, 900000000000526001
POSSIBLY_EQUIVALENT_TO = 900000000000523009
INACTIVE_SHARE = 0.08
FIXED = 4  # names that every concept has: an FSN and a preferred term, in English and in Spanish
FIRST_ITEM = 1_000_000
# Streams of random numbers. Dates and reference sets add the stream to a base of their own.
ITEM, STATUS, LINK, REPLACED, MAPPED, SIMPLE, TEXT, DIALECT = range(50, 58)
DATES, HIGH, LOW = 100, 200, 300
# Semantic tags in the order of the endings of head words.
TAGS = """disorder disorder disorder disorder finding finding disorder substance substance substance
procedure procedure body_structure substance product procedure""".split()


def table(*columns: list[int] | list[str] | int | str) -> list[str]:
    """Join columns into rows with tabs.

    columns (list | int | str): cells, or one value for every row; at least one is a list.
    RETURNS (list[str]): rows without line ends.
    """
    filled = [column if isinstance(column, list) else repeat(column) for column in columns]
    return ["\t".join(map(str, row)) for row in zip(*filled, strict=False)]


class Snapshot:
    """A release of invented concepts; nothing is kept but how many names each has.

    concepts, names (int): rows of the concept file, and of the description files.
    seed (int): which release. date (str): of the release, YYYYMMDD.
    """

    def __init__(self, concepts: int, names: int, seed: int, date: str) -> None:
        self.concepts = concepts
        self.total = names
        self.seed = seed
        counts = zipf_counts(names, concepts, FIXED, seed)
        self.offsets: Ints = np.concatenate([[0], np.cumsum(counts)])
        # The concepts up to here are active; they alone have a place in the hierarchy.
        self.active = concepts - round(INACTIVE_SHARE * concepts)
        self.root = int(Shuffle(self.active, seed).inverse(np.array([0]))[0])
        years = range(2002, int(date[:4]) + 1)
        days = [f"{year}{day}" for year in years for day in ("0131", "0731")]
        self.days = [day for day in days if day <= date] or [date]

    def ids(self, concepts: Ints) -> list[int]:
        """Give the identifiers of concepts.

        concepts (Ints): concepts, (n,). RETURNS (list[int]): n SCTIDs.
        """
        items = FIRST_ITEM + 2 * concepts + bits(draw(self.seed, ITEM, concepts), 0, 1)
        ids = np.where(concepts == self.root, ROOT, sctids(items, CONCEPT))
        return [int(sctid) for sctid in ids.tolist()]

    def kinds(self, concepts: Ints) -> Ints:
        """Give the kinds of concepts, which go with the endings of their names.

        concepts (Ints): concepts, (n,). RETURNS (Ints): positions in TAGS, (n,).
        """
        return (scatter(concepts, CORE_BITS, 0) >> 13) % len(TAGS)

    def dates(self, stream: int, numbers: Ints) -> list[str]:
        """Draw effective times.

        stream (int): of what. numbers (Ints): of which, (n,).
        RETURNS (list[str]): n dates, none after the release.
        """
        random = draw(self.seed, DATES + stream, numbers)
        return [self.days[i] for i in (bits(random, 0, 16) % len(self.days)).tolist()]

    def members(self, stream: int, numbers: Ints) -> list[str]:
        """Write the columns that rows of a reference set start with: UUID, date, active, module.

        stream (int): which reference set. numbers (Ints): which rows, (n,).
        RETURNS (list[str]): n starts of rows.
        """
        high = draw(self.seed, HIGH + stream, numbers).tolist()
        low = draw(self.seed, LOW + stream, numbers).tolist()
        uuids = [
            f"{a >> 32:08x}-{a >> 16 & 0xFFFF:04x}-4{a & 0xFFF:03x}-"
            f"{8 | b >> 62:x}{b >> 48 & 0xFFF:03x}-{b & 0xFFFFFFFFFFFF:012x}"
            for a, b in zip(high, low, strict=True)
        ]
        return table(uuids, self.dates(stream, numbers), 1, MODULE)


def concept_rows(snapshot: Snapshot, first: int, last: int) -> list[str]:
    """Write the concept file.

    snapshot (Snapshot): the release. first, last (int): places in the file.
    RETURNS (list[str]): rows.
    """
    concepts = Shuffle(snapshot.concepts, snapshot.seed + 1)(np.arange(first, last))
    defined = bits(draw(snapshot.seed, STATUS, concepts), 0, 2) == 0
    return table(
        snapshot.ids(concepts),
        snapshot.dates(STATUS, concepts),
        (concepts < snapshot.active).astype(int).tolist(),
        MODULE,
        np.where(defined, DEFINED, PRIMITIVE).tolist(),
    )


def relationship_rows(snapshot: Snapshot, first: int, last: int) -> list[str]:
    """Write the relationship file: a hierarchy, sites, and relationships that ended.

    snapshot (Snapshot): the release. first, last (int): concepts.
    RETURNS (list[str]): rows.
    """
    concepts = np.arange(first, last)
    live = concepts < snapshot.active
    random = draw(snapshot.seed, LINK, concepts)
    chance = unit(random)
    known = np.minimum(concepts, snapshot.active - 1)
    one = parents(known, snapshot.active, snapshot.seed)
    two = parents(known, snapshot.active, snapshot.seed, SECOND)
    other = (random >> np.uint64(1)).astype(np.int64) % snapshot.active
    child = live & (concepts != snapshot.root)
    cases = [
        (child, concepts, one, IS_A, 1),
        (child & (chance < 0.2) & (two != one), concepts, two, IS_A, 1),
        (child & (chance > 0.7), concepts, other, FINDING_SITE, 1),
        # Ended: the place an inactive concept had, and a hierarchy that was upside down.
        (~live, concepts, other, IS_A, 0),
        (child & (chance > 0.4) & (chance < 0.42), one, concepts, IS_A, 0),
    ]
    rows = []
    for i, (case, source, target, kind, active) in enumerate(cases):
        items = FIRST_ITEM + len(cases) * concepts[case] + i
        rows += table(
            sctids(items, RELATIONSHIP).tolist(),
            snapshot.dates(LINK, items),
            active,
            MODULE,
            snapshot.ids(source[case]),
            snapshot.ids(target[case]),
            int(kind != IS_A),
            kind,
            INFERRED,
            SOME,
        )
    return rows


def association_rows(snapshot: Snapshot, first: int, last: int) -> list[str]:
    """Write what inactive concepts were replaced by; a few times, by one that is inactive too.

    snapshot (Snapshot): the release. first, last (int): concepts; active ones have no rows.
    RETURNS (list[str]): rows.
    """
    concepts = np.arange(max(first, snapshot.active), max(last, snapshot.active))
    random = draw(snapshot.seed, REPLACED, concepts)
    chance = unit(random)
    heirs = bits(random, 0, 31) % snapshot.active
    # Earlier concepts only, so that whoever follows the chain comes to its end.
    chained = (chance * 1000 % 1 < 0.05) & (concepts > snapshot.active)
    ended = snapshot.active + bits(random, 0, 31) % np.maximum(concepts - snapshot.active, 1)
    heirs = np.where(chained, ended, heirs)
    ambiguous = (chance >= 0.85) & (chance < 0.95)
    cases = [
        (chance < 0.55, REPLACED_BY, heirs),
        ((chance >= 0.55) & (chance < 0.85), SAME_AS, heirs),
        (ambiguous, POSSIBLY_EQUIVALENT_TO, heirs),
        (ambiguous, POSSIBLY_EQUIVALENT_TO, heirs // 2),
    ]
    rows = []
    for i, (case, refset, targets) in enumerate(cases):
        start = snapshot.members(REPLACED, concepts[case] * len(cases) + i)
        old, new = snapshot.ids(concepts[case]), snapshot.ids(targets[case])
        rows += table(start, refset, old, new)
    return rows
