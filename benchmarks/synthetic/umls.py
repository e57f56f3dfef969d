"""Write an invented META directory like the UMLS's, of any size, or that of a later year.

    python -m benchmarks.synthetic.umls OUT --concepts 4200000 --names 15000000
    python -m benchmarks.synthetic.umls NEXT --concepts 4200000 --names 15000000 --year 1

It has only the files that the UMLS reader reads. Columns, order and vocabularies are those of the
Metathesaurus; identifiers, names and definitions are invented.
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import typer

from benchmarks.synthetic.names import LANGUAGES, Names
from benchmarks.synthetic.tables import Flags, Ints, bits, chance, draw, write_tables

_FILES = ("MRCONSO", "MRSTY", "MRDEF", "MRREL", "MRCUI", "MRRANK", "MRSAB")
_BLOCK = 8192  # concepts at a time; even, since pairs of neighbours are related or swap names
_MOST_CONCEPTS = 4_990_000  # a CUI has seven digits, and every other one is used
_KIND, _TYPE, _DEFINED, _DEATH, _MOVED = range(10, 15)  # streams of random numbers
# Parts of a yearly change of 1 % of the names: names of new concepts, names with another text, and
# names that move to another concept. Concepts that end take the rest.
_BORN, _REDRAWN, _MOVES, _DEATHS = 0.4, 0.1, 0.2, 0.4
_FIRST_REDRAWN = 50_000_000  # above the atoms of the largest release

# SAB, TTY, SUPPRESS and weight of the rows of a language; the best name first, as in MRRANK.
_ROWS = {
    "ENG": "MTH PN N 4|SNOMEDCT_US PT N 8|SNOMEDCT_US FN N 8|SNOMEDCT_US SY N 9|MSH MH N 6|"
    "MSH ET N 6|NCI PT N 5|HPO SY N 3|ICD10CM PT N 4|RXNORM SCD N 3|OMIM PTCS N 2|"
    "SNOMEDCT_US OAP O 2|ICD10CM AB Y 2|SNOMEDCT_US SY E 1|RXNORM OCD O 1",
    "SPA": "SCTSPA PT N 16|SCTSPA SY N 20|MSHSPA MH N 10|MSHSPA ET N 10|SCTSPA OAP O 8",
}
_OTHER_ROWS = "MSH{0} MH N 24|MSH{0} ET N 30|MSH{0} DSV O 4|MDR{0} LLT N 6"
_CODES = {"SNO": "{}009", "SCT": "{}009", "MSH": "D{:06d}", "NCI": "C{}", "HPO": "HP:{:07d}",
          "RXN": "{}", "OMI": "{:06d}", "MDR": "1{:07d}", "MTH": "U{:06d}"}  # fmt: skip
TYPES = (
    "T047|B2.2.1.2.1|Disease or Syndrome", "T191|B2.2.1.2.1.2|Neoplastic Process",
    "T046|B2.2.1.2|Pathologic Function", "T184|A2.2.2|Sign or Symptom", "T033|A2.2|Finding",
    "T061|B1.3.1.3|Therapeutic or Preventive Procedure",
    "T121|A1.4.1.1.1|Pharmacologic Substance", "T116|A1.4.1.2.1.7|Amino Acid, Peptide, or Protein",
)  # fmt: skip
# STYPE, REL, RELA and SAB: parents, children, then brands and sites from both sides. REL and RELA
# say what the second concept is to the first.
_SIDES = (
    ("SCUI", "PAR", "inverse_isa", "SNOMEDCT_US"), ("AUI", "PAR", "", "MSH"),
    ("SCUI", "PAR", "inverse_isa", "NCI"), ("SCUI", "RB", "inverse_isa", "NCI"),
    ("SCUI", "CHD", "isa", "SNOMEDCT_US"), ("AUI", "CHD", "", "MSH"),
    ("SCUI", "CHD", "isa", "NCI"), ("SCUI", "RN", "isa", "NCI"),
    ("SCUI", "RN", "tradename_of", "RXNORM"), ("SCUI", "RB", "has_tradename", "RXNORM"),
    ("SCUI", "RO", "has_finding_site", "SNOMEDCT_US"),
    ("SCUI", "RO", "finding_site_of", "SNOMEDCT_US"),
)  # fmt: skip


def generate(
    out_dir: Path, concepts: int = 1000, names: int = 3571, seed: int = 0, year: int = 0,
    fraction: float = 0.01,
) -> dict[str, int]:  # fmt: skip
    """Write a release.

    out_dir (Path): the META directory; files in it are overwritten.
    concepts, names (int): CUIs and rows of MRCONSO in year 0. seed (int): which terminology.
    year (int): how many years later; identifiers stay the same, and none is used twice.
    fraction (float): share of the names that are dropped, changed, moved or added in a year.
    RETURNS (dict[str, int]): rows of each file.
    RAISES (ValueError): when there are too few names, or more concepts than CUIs.
    """
    release = _Release(concepts, names, seed, year, fraction)
    paths = {name: Path(out_dir) / f"{name}.RRF" for name in _FILES}
    blocks = range(0, release.total, _BLOCK)
    pieces = (release.rows(first, min(first + _BLOCK, release.total)) for first in blocks)
    return write_tables(paths, chain(pieces, [release.sources()]))


class _Release:
    """A release. Only the number of names of each concept is kept; writing computes the rest.

    Concept n is a child of concept n // 4; some are also children of n // 7. Only leaves end.
    """

    def __init__(self, concepts: int, names: int, seed: int, year: int, fraction: float) -> None:
        changed = year * fraction
        born = round(_BORN * changed * names / 3)
        self.total = concepts + born
        if self.total > _MOST_CONCEPTS:
            raise ValueError(f"at most {_MOST_CONCEPTS} concepts, not {self.total}")
        self._concepts, self._seed, self._changed = concepts, seed, changed
        self._version = f"{2026 + year}AA"
        self._names = Names(concepts, names, seed, born=born, redrawn=_REDRAWN * changed)
        texts = [
            (lat, kind.split())
            for lat, *_ in LANGUAGES
            for kind in _ROWS.get(lat, _OTHER_ROWS.format(lat)).split("|")
        ]
        self._kinds = [(lat, sab, tty, suppress) for lat, (sab, tty, suppress, _) in texts]
        drawn = np.repeat(np.arange(len(texts)), [int(kind[3]) for _, kind in texts])
        self._drawn_kinds: Ints = drawn.reshape(len(LANGUAGES), 64)

    def rows(self, first: int, last: int) -> dict[str, list[str]]:
        """Write the rows of the concepts from `first` up to `last`, by CUI."""
        concepts = np.arange(first, last)
        alive = concepts[~self._dead(concepts)]
        return {
            "MRCONSO": self._atoms(first, last),
            "MRSTY": self._types(alive),
            "MRDEF": self._definitions(alive),
            "MRREL": self._relations(alive),
            "MRCUI": self._history(concepts),
        }

    def sources(self) -> dict[str, list[str]]:
        """Write the ranks of names and the versions of vocabularies."""
        kinds = sorted(self._kinds, key=lambda kind: kind[3] != "N")
        ranks = [f"{len(kinds) - i:04d}|{'|'.join(kinds[i][1:])}|" for i in range(len(kinds))]
        sabs = {sab: lat for lat, sab, *_ in kinds}
        rows = [
            f"||{sab}_{self._version}|{sab}|Synthetic {sab}|{sab.removesuffix(lat)}|"
            f"{self._version}|||{self._version}||||0||||||{lat}|UTF-8|Y|Y|Synthetic {sab}||"
            for sab, lat in sorted(sabs.items())
        ]
        return {"MRRANK": ranks, "MRSAB": rows}

    def _dead(self, concepts: Ints) -> Flags:
        """Tell which leaves of year 0 have ended."""
        mortal = (concepts >= self._concepts // 2) & (concepts < self._concepts) & (concepts > 0)
        return mortal & (chance(self._seed, _DEATH, concepts) < _DEATHS * self._changed)

    def _atoms(self, first: int, last: int) -> list[str]:
        block = self._names.block(first, last)
        lead = block.number == self._names.offsets[block.concept]
        moved = ~lead & (chance(self._seed, _MOVED, block.number) < _MOVES * self._changed)
        owner = np.where(moved, np.minimum(block.concept ^ 1, last - 1), block.concept)
        owner = np.where(self._dead(owner), block.concept, owner)
        order = np.argsort(owner, kind="stable")
        order = order[~self._dead(owner[order])]
        random = bits(draw(self._seed, _KIND, block.number), 0, 6)
        kinds = self._drawn_kinds[block.language, random]
        shift = 1 + _FIRST_REDRAWN * block.redrawn
        columns = (owner, kinds, lead, block.source + shift, block.number + shift, order)
        chosen = zip(*(column[order].tolist() for column in columns[:-1]), order.tolist(),
                     strict=True)  # fmt: skip
        return [
            f"{_cui(c)}|{self._kinds[k][0]}|{'P' if p else 'S'}|L{sui:08d}|PF|S{sui:08d}|"
            f"{'N' if sui != aui else 'Y'}|A{aui:08d}||{code}||{self._kinds[k][1]}|"
            f"{self._kinds[k][2]}|{code}|{block.texts[i]}|0|{self._kinds[k][3]}||"
            for c, k, p, sui, aui, i in chosen
            for code in [_code(self._kinds[k][1], c + 100)]
        ]

    def _types(self, concepts: Ints) -> list[str]:
        one = self._names.heads(concepts) % len(TYPES)
        # One concept in eight has a second type.
        random = draw(self._seed, _TYPE, concepts)
        two = np.where(bits(random, 0, 3) == 0, (one + 1) % len(TYPES), one)
        return [
            f"{_cui(c)}|{TYPES[kind]}|AT{2 * c + place:08d}||"
            for c, *kinds in zip(concepts.tolist(), one.tolist(), two.tolist(), strict=True)
            for place, kind in enumerate(sorted(set(kinds)))
        ]

    def _definitions(self, concepts: Ints) -> list[str]:
        chosen = concepts[chance(self._seed, _DEFINED, concepts) < 0.07]
        atoms = self._names.offsets[chosen]
        texts = self._names.texts(atoms, chosen, np.zeros_like(chosen))
        return [
            f"{_cui(c)}|A{atom + 1:08d}|AT{10_000_000 + c:08d}||MSH|A condition that is invented,"
            f" and known as {text}.|N||"
            for c, atom, text in zip(chosen.tolist(), atoms.tolist(), texts, strict=True)
        ]

    def _relations(self, concepts: Ints) -> list[str]:
        one, two, side = (np.concatenate(parts) for parts in zip(*_pairs(concepts), strict=True))
        there = np.flatnonzero(two < self.total)
        there = there[~self._dead(two[there])]
        order = there[np.argsort(one[there], kind="stable")]
        one, two, side = one[order], two[order], side[order]
        atoms = [self._names.offsets[concept] + 1 for concept in (one, two)]
        columns = (one, atoms[0], two, atoms[1], side)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        # A concept has at most 15 rows.
        numbers = 15 * one + np.arange(len(one)) - np.searchsorted(one, one)
        return [
            f"{_cui(c)}|A{a:08d}|{stype}|{rel}|{_cui(d)}|A{b:08d}|{stype}|{rela}|R{rui:08d}||"
            f"{sab}|{sab}|||N||"
            for rui, (c, a, d, b, i) in zip(numbers.tolist(), rows, strict=True)
            for stype, rel, rela, sab in [_SIDES[i]]
        ]

    def _history(self, concepts: Ints) -> list[str]:
        """Write the history of CUIs: those that ended, and an older one for every 50 concepts."""
        rows = []
        for c, dead in zip(concepts.tolist(), self._dead(concepts).tolist(), strict=True):
            heir = f"SY|||{_cui(c // 4)}|Y|" if c % 3 else "DEL|||||"
            if dead:
                rows.append(f"{_cui(c)}|{self._version}|{heir}")
            if c % 50 == 0:
                rows.append(f"C{2 * c + 6:07d}|2013AB|{heir}")
        return rows


def _pairs(concepts: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Relate concepts to others: positions in _SIDES, each relation from both sides."""
    for step in (4, 7):
        child = concepts[_hangs(concepts, step)]
        yield child, child // step, child % 4
        for place in range(step):
            child = concepts * step + place
            child = child[_hangs(child, step)]
            yield child // step, child, 4 + child % 4
    for distance, place, side in ((1, 6, 8), (2, 8, 10)):
        for end in (0, 1):
            one = concepts[concepts % 32 == place ^ end * distance]
            yield one, one ^ distance, np.full_like(one, side + end)


def _hangs(concepts: Ints, step: int) -> Flags:
    """Tell which concepts are children of concept number // step."""
    return concepts > 0 if step == 4 else (concepts > 0) & (concepts % 5 == 0)


def _cui(concept: int) -> str:
    return f"C{2 * concept + 5:07d}"


def _code(sab: str, number: int) -> str:
    """Write the code of a concept in a vocabulary; many concepts share an ICD-10-CM code."""
    if sab == "ICD10CM":
        return f"{chr(65 + number // 1000 % 26)}{number // 10 % 100:02d}.{number % 10}"
    return _CODES[sab[:3]].format(number)


if __name__ == "__main__":
    typer.run(generate)
