"""An is-a hierarchy without cycles, and other relations, among numbered concepts."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.synthetic.draws import (
    BLOCK,
    Flags,
    Ints,
    Rows,
    Shuffle,
    SmallInts,
    bits,
    draw,
    unit,
)

PARENTS, SECOND, OTHERS = 20, 21, 22  # streams of random numbers
STEP = 1 << 18  # concepts whose relations are drawn at a time


@dataclass(frozen=True)
class RelationKind:
    """A relation and its inverse, as MRREL has them: in both, the second concept is to the first.

    sab, stype (str): source, and the level at which it asserts the relation.
    rel, rela (str): what the parent is to the child. inverse_rel, inverse_rela (str): and back.
    """

    sab: str
    stype: str
    rel: str
    rela: str
    inverse_rel: str
    inverse_rela: str

    def middles(self, inverse: bool) -> tuple[str, str, str]:
        """Give the constant text after AUI1, after AUI2 and after RUI.

        inverse (bool): of the relation or of its inverse.
        RETURNS (tuple[str, str, str]): columns with their bars.
        """
        rel, rela = (self.inverse_rel, self.inverse_rela) if inverse else (self.rel, self.rela)
        stype = self.stype
        return f"|{stype}|{rel}|", f"|{stype}|{rela}|R", f"||{self.sab}|{self.sab}|||N||"


HIERARCHY = [
    RelationKind("SNOMEDCT_US", "SCUI", "PAR", "inverse_isa", "CHD", "isa"),
    RelationKind("NCI", "SCUI", "PAR", "inverse_isa", "CHD", "isa"),
    RelationKind("MSH", "AUI", "PAR", "", "CHD", ""),
    RelationKind("SNOMEDCT_US", "SCUI", "RB", "inverse_isa", "RN", "isa"),
]
TRADE = RelationKind("RXNORM", "SCUI", "RB", "has_tradename", "RN", "tradename_of")
SITE = RelationKind("SNOMEDCT_US", "SCUI", "RO", "finding_site_of", "RO", "has_finding_site")
SAME = RelationKind("NCI", "AUI", "SY", "", "SY", "")
KINDS = [*HIERARCHY, TRADE, SITE, SAME]


def parents(numbers: Ints, concepts: int, seed: int, stream: int = PARENTS) -> Ints:
    """Choose a parent for each concept. Concepts have hidden ranks, and a parent has a lower one.

    numbers (Ints): concepts, (n,). concepts (int): how many there are.
    seed (int): the generator's seed. stream (int): which of a concept's parents.
    RETURNS (Ints): the parents, (n,); the root, which has none, is its own.
    """
    ranks = Shuffle(concepts, seed)
    rank = ranks(numbers)
    # The exponent gives the low ranks more children: some concepts are hubs, half are leaves.
    chosen = np.floor(unit(draw(seed, stream, numbers)) ** 1.5 * rank).astype(np.int64)
    return ranks.inverse(chosen)


def relations(first: int, last: int, concepts: int, seed: int) -> tuple[Ints, Ints, Ints]:
    """Draw the relations of some concepts, each once: about 1.2 a concept.

    first, last (int): the concepts from `first` up to `last`.
    concepts (int): how many there are. seed (int): the generator's seed.
    RETURNS (tuple[Ints, Ints, Ints]): these concepts, those they are related to (parents, mostly),
        and positions in KINDS, each (n_relations,).
    """
    numbers = np.arange(first, last)
    one = parents(numbers, concepts, seed)
    two = parents(numbers, concepts, seed, SECOND)
    random = draw(seed, OTHERS, numbers)
    chance = unit(random)
    other = (random >> np.uint64(1)).astype(np.int64) % concepts
    hierarchy = bits(random, 0, 2)
    cases: list[tuple[Flags, Ints, Ints | int]] = [
        (one != numbers, one, hierarchy),
        ((chance < 0.15) & (two != one) & (two != numbers), two, hierarchy),
        ((chance >= 0.15) & (chance < 0.18) & (other != numbers), other, KINDS.index(TRADE)),
        ((chance >= 0.18) & (chance < 0.23) & (other != numbers), other, KINDS.index(SITE)),
        ((chance >= 0.23) & (chance < 0.24), numbers, KINDS.index(SAME)),
    ]
    return (
        np.concatenate([numbers[case] for case, _, _ in cases]),
        np.concatenate([target[case] for case, target, _ in cases]),
        np.concatenate([np.broadcast_to(kind, case.shape)[case] for case, _, kind in cases]),
    )


def sorted_relations(
    concepts: int, seed: int
) -> tuple[SmallInts, SmallInts, npt.NDArray[np.int8], Ints]:
    """Draw all relations, and again from the other side.

    concepts (int): how many concepts there are. seed (int): the generator's seed.
    RETURNS (tuple[SmallInts, SmallInts, NDArray, Ints]): first and second concepts, positions in
        KINDS (plus len(KINDS) for inverses), and the order by first concept, each (n_rows,).
    """
    # Small integers, drawn in pieces: this is all that has to be in memory at once.
    pieces = []
    for first in range(0, concepts, STEP):
        one, two, kind = relations(first, min(first + STEP, concepts), concepts, seed)
        pieces.append((one.astype(np.int32), two.astype(np.int32), kind.astype(np.int8)))
    ones, twos, kinds = zip(*pieces, strict=True)
    inverses = tuple(kind + np.int8(len(KINDS)) for kind in kinds)
    first_concepts = np.concatenate(ones + twos)
    order = np.argsort(first_concepts, kind="stable")
    return first_concepts, np.concatenate(twos + ones), np.concatenate(kinds + inverses), order


def write_relations(rows: Rows, cuis: SmallInts, atoms: SmallInts, seed: int) -> None:
    """Write MRREL, each relation in both directions, by CUI1.

    rows (Rows): the file. cuis, atoms (SmallInts): CUI and first AUI of each concept, as numbers.
    seed (int): the generator's seed.
    """
    first, second, kinds, order = sorted_relations(len(cuis), seed)
    middles = [kind.middles(inverse) for inverse in (False, True) for kind in KINDS]
    for start in range(0, len(order), BLOCK):
        chosen = order[start : start + BLOCK]
        one, two = first[chosen], second[chosen]
        columns = zip(
            cuis[one].tolist(),
            atoms[one].tolist(),
            [middles[k] for k in kinds[chosen].tolist()],
            cuis[two].tolist(),
            atoms[two].tolist(),
            (chosen + 1).tolist(),
            strict=True,
        )
        rows.write(
            [
                f"C{c1:07d}|A{a1:08d}{x}C{c2:07d}|A{a2:08d}{y}{rui:08d}{z}"
                for c1, a1, (x, y, z), c2, a2, rui in columns
            ]
        )
