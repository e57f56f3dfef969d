"""Write an invented META directory like the UMLS's, of any size, or that of a later year.

    python -m benchmarks.umls OUT --concepts 4200000 --names 15000000
    python -m benchmarks.umls NEXT --concepts 4200000 --names 15000000 --year 1

It has only the files that the UMLS reader reads. Columns, order and vocabularies are those of the
Metathesaurus; identifiers, names and definitions are invented. The number of a concept or name
determines all draws about it, so a later year repeats them, and memory holds only how many names
each concept has.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import typer

from benchmarks.invented import draws_of, head_of, invent_name
from spacy_medlink.types import Ints1d

_FILES = ("MRCONSO", "MRSTY", "MRDEF", "MRREL", "MRCUI", "MRRANK", "MRSAB")
_MOST_CONCEPTS = 4_990_000  # a CUI has seven digits, and every other one is used
_DEATH, _ATOM, _ABOUT = range(10, 13)  # streams of draws
_NEW_NAMES = 3  # of a concept that comes later
# Parts of a yearly change of 1 % of the names: names of new concepts, names with another text, and
# names that move to another concept. Concepts that end take the rest.
_BORN, _REDRAWN, _MOVES, _DEATHS = 0.4, 0.1, 0.2, 0.4
_FIRST_REDRAWN = 50_000_000  # above the atoms of the largest release

# By language, SAB, TTY and SUPPRESS of its rows, and how frequent they are; the best name first, as
# in MRRANK.
_KINDS = {
    "ENG": "MTH PN N 4|SNOMEDCT_US PT N 8|SNOMEDCT_US FN N 8|SNOMEDCT_US SY N 9|MSH MH N 6|"
    "MSH ET N 6|NCI PT N 5|HPO SY N 3|ICD10CM PT N 4|RXNORM SCD N 3|OMIM PTCS N 2|"
    "SNOMEDCT_US OAP O 2|ICD10CM AB Y 2|SNOMEDCT_US SY E 1|RXNORM OCD O 1",
    "SPA": "SCTSPA PT N 16|SCTSPA SY N 20|MSHSPA MH N 10|MSHSPA ET N 10|SCTSPA OAP O 8",
    "JPN": "MSHJPN MH N 24|MSHJPN ET N 30|MSHJPN DSV O 4|MDRJPN LLT N 6",
}
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
Rows = Iterator[tuple[str, str]]  # a file, and a row of it


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
    counts: Counter[str] = Counter()
    Path(out_dir).mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        paths = {name: Path(out_dir) / f"{name}.RRF" for name in _FILES}
        files = {
            name: stack.enter_context(path.open("w", encoding="utf8", newline=""))
            for name, path in paths.items()
        }
        for name, row in release.rows():
            files[name].write(row + "\n")
            counts[name] += 1
    return dict(counts)


class _Release:
    """A release. Concept n is a child of n // 4; some are also children of n // 7. Leaves end."""

    def __init__(self, concepts: int, names: int, seed: int, year: int, fraction: float) -> None:
        changed = year * fraction
        born = round(_BORN * changed * names / _NEW_NAMES)
        self._total = concepts + born
        if self._total > _MOST_CONCEPTS:
            raise ValueError(f"at most {_MOST_CONCEPTS} concepts, not {self._total}")
        counts = np.append(_shares(names, concepts, seed), np.full(born, _NEW_NAMES))
        self._offsets = np.append(0, np.cumsum(counts))
        self._concepts, self._seed, self._changed = concepts, seed, changed
        self._version = f"{2026 + year}AA"

    def rows(self) -> Rows:
        """Write the rows of all files, by CUI."""
        for first in range(0, self._total, 2):  # neighbours swap names
            pair = range(first, min(first + 2, self._total))
            yield from (("MRCONSO", row) for _, row in sorted(self._atoms(pair)))
            for concept in pair:
                yield from (("MRCUI", row) for row in self._history(concept))
                if not self._is_dead(concept):
                    yield from self._about(concept)
                    yield from (("MRREL", row) for row in self._relations(concept))
        yield from self._sources()

    def _is_dead(self, concept: int) -> bool:
        """Tell whether a leaf of year 0 has ended."""
        if not self._changed or not max(1, self._concepts // 2) <= concept < self._concepts:
            return False
        return draws_of(self._seed, _DEATH, concept).random() < _DEATHS * self._changed

    def _atoms(self, pair: range) -> Iterator[tuple[tuple[int, int], str]]:
        """Write the rows of MRCONSO of neighbours, each with its place among them."""
        alive = [concept for concept in pair if not self._is_dead(concept)]
        for concept in pair:
            first, end = map(int, self._offsets[concept : concept + 2])
            for number in range(first, end):
                draws, is_lead = draws_of(self._seed, _ATOM, number), number == first
                is_moved = not is_lead and draws.random() < _MOVES * self._changed
                owner = concept ^ 1 if is_moved and concept ^ 1 in alive else concept
                if owner in alive:
                    yield (owner, number), self._atom(concept, number, owner, is_lead, draws)

    def _atom(self, concept: int, number: int, owner: int, is_lead: bool, draws: Random) -> str:
        is_redrawn = not is_lead and draws.random() < _REDRAWN * self._changed
        # One name in 18 is the one before it, from another source; one in 64 is the first name of
        # another concept, and ambiguous.
        other, chance = draws.randrange(self._concepts), draws.random()
        source, named = number, concept
        if not (is_lead or is_redrawn) and chance < 1 / 18:
            source = number - 1
        elif not (is_lead or is_redrawn) and chance < 1 / 18 + 1 / 64:
            source, named = int(self._offsets[other]), other
        language, text = self._name(source, named, is_redrawn)
        sab, tty, suppress = draws.choice(_kinds(language))
        shift = 1 + is_redrawn * _FIRST_REDRAWN
        sui, aui, code = source + shift, number + shift, _code(sab, owner + 100)
        return (
            f"{_cui(owner)}|{language}|{'P' if is_lead else 'S'}|L{sui:08d}|PF|S{sui:08d}|"
            f"{'N' if sui != aui else 'Y'}|A{aui:08d}||{code}||{sab}|{tty}|{code}|{text}|0|"
            f"{suppress}||"
        )

    def _name(self, number: int, concept: int, is_redrawn: bool = False) -> tuple[str, str]:
        is_first = number == self._offsets[concept]
        return invent_name(self._seed, number, concept, is_first, is_redrawn)

    def _about(self, concept: int) -> Rows:
        """Write types and, for some, a definition."""
        draws, cui = draws_of(self._seed, _ABOUT, concept), _cui(concept)
        of_head = head_of(self._seed, concept) % len(TYPES)
        # One concept in eight has a second type.
        second = (of_head + 1) % len(TYPES) if draws.random() < 1 / 8 else of_head
        for row, type in enumerate(sorted({of_head, second})):
            yield "MRSTY", f"{cui}|{TYPES[type]}|AT{2 * concept + row:08d}||"
        if draws.random() < 0.07:
            atom = int(self._offsets[concept])
            yield (
                "MRDEF",
                (
                    f"{cui}|A{atom + 1:08d}|AT{10_000_000 + concept:08d}||MSH|A condition that is "
                    f"invented, and known as {self._name(atom, concept)[1]}.|N||"
                ),
            )

    def _relations(self, concept: int) -> Iterator[str]:
        there = (
            pair for pair in _related(concept)
            if pair[0] < self._total and not self._is_dead(pair[0])
        )  # fmt: skip
        atom = self._offsets[concept] + 1
        for row, (other, side) in enumerate(there):
            stype, rel, rela, sab = _SIDES[side]
            yield (
                f"{_cui(concept)}|A{atom:08d}|{stype}|{rel}|{_cui(other)}|"
                f"A{self._offsets[other] + 1:08d}|{stype}|{rela}|R{15 * concept + row:08d}||"
                f"{sab}|{sab}|||N||"
            )

    def _history(self, concept: int) -> Iterator[str]:
        """Write the history of CUIs: of one that ended, and an older one for every 50 concepts."""
        heir = f"SY|||{_cui(concept // 4)}|Y|" if concept % 3 else "DEL|||||"
        if self._is_dead(concept):
            yield f"{_cui(concept)}|{self._version}|{heir}"
        if concept % 50 == 0:
            yield f"C{2 * concept + 6:07d}|2013AB|{heir}"

    def _sources(self) -> Rows:
        """Write the ranks of names and the versions of vocabularies."""
        kinds = [(lat, *kind) for lat in _KINDS for kind in dict.fromkeys(_kinds(lat))]
        for row, kind in enumerate(sorted(kinds, key=lambda kind: kind[3] != "N")):
            yield "MRRANK", f"{len(kinds) - row:04d}|{'|'.join(kind[1:])}|"
        for sab, lat in sorted({sab: lat for lat, sab, *_ in kinds}.items()):
            yield (
                "MRSAB",
                (
                    f"||{sab}_{self._version}|{sab}|Synthetic {sab}|{sab.removesuffix(lat)}|"
                    f"{self._version}|||{self._version}||||0||||||{lat}|UTF-8|Y|Y|Synthetic {sab}||"
                ),
            )


def _related(concept: int) -> Iterator[tuple[int, int]]:
    """Relate a concept to others: with the position in _SIDES; each relation from both sides."""
    for step in (4, 7):
        if _hangs(concept, step):
            yield concept // step, concept % 4
        for child in range(concept * step, (concept + 1) * step):
            if _hangs(child, step):
                yield child, 4 + child % 4
    for distance, remainder, side in ((1, 6, 8), (2, 8, 10)):
        for end in (0, 1):
            if concept % 32 == remainder ^ end * distance:
                yield concept ^ distance, side + end


def _hangs(concept: int, step: int) -> bool:
    """Tell whether a concept is a child of concept number // step."""
    return concept > 0 and (step == 4 or concept % 5 == 0)


@cache
def _kinds(lat: str) -> list[tuple[str, str, str]]:
    """List the kinds of rows of a language, each as often as it is frequent."""
    parts = [text.split() for text in _KINDS[lat].split("|")]
    return [(sab, tty, sup) for sab, tty, sup, weight in parts for _ in range(int(weight))]


def _shares(total: int, concepts: int, seed: int) -> Ints1d:
    """Share names among concepts: most get few, a few get hundreds; the sum is exact."""
    extra = total - concepts
    if concepts < 1 or extra < 0:
        raise ValueError(f"{concepts} concepts need at least {max(1, concepts)} names")
    weights = np.random.default_rng(seed).pareto(1.3, concepts)
    # This Pareto tail has no end, but in a real release no concept has over a few hundred names.
    ends = np.cumsum(np.minimum(weights, 120 * weights.mean()))
    counts = np.diff(np.rint(ends * (extra / ends[-1])), prepend=0)
    return np.asarray(counts + 1, dtype=np.int64)


def _cui(concept: int) -> str:
    return f"C{2 * concept + 5:07d}"


def _code(sab: str, concept: int) -> str:
    """Write the code of a concept in a vocabulary; many concepts share an ICD-10-CM code."""
    if sab == "ICD10CM":
        return f"{chr(65 + concept // 1000 % 26)}{concept // 10 % 100:02d}.{concept % 10}"
    return _CODES[sab[:3]].format(concept)


if __name__ == "__main__":
    typer.run(generate)
