"""The rows of a synthetic Metathesaurus, for a run of concepts at a time."""

import numpy as np

from benchmarks.synthetic.definitions import definitions
from benchmarks.synthetic.draws import Bits, Ints, bits, draw, scatter, unit
from benchmarks.synthetic.names import NameBlock, Names
from benchmarks.synthetic.sources import (
    SEMANTIC_TYPES,
    atom_kinds,
    icd_code,
    rank_rows,
    source_rows,
)
from benchmarks.synthetic.words import STYLES

FILES = ("MRCONSO", "MRSTY", "MRDEF", "MRMAP", "MRREL", "MRCUI", "MRRANK", "MRSAB")
FIRST_CUI = 5
MOST_CONCEPTS = 4_990_000  # a CUI has seven digits, and every other one is used
ATUI_DEFINITION, ATUI_MAP = 10_000_000, 20_000_000  # attribute ids of types are below
MAP_SET = "C0000001"
TYPES, GAPS, DEFINED = 5, 6, 7  # streams of random numbers
# (STT, ISPREF) and TS of the first row of a language, a synonym, a copy and another case of a name
ROLES = (("P", "PF", "Y"), ("S", "PF", "Y"), ("S", "PF", "N"), ("S", "VC", "Y"))


class Metathesaurus:
    """A release of invented concepts.

    concepts, names (int): how many. seed (int): which release. languages (int): how many.
    first, first_name (int): how many concepts and names there were before these.
    RAISES (ValueError): if the numbers cannot be met.
    """

    def __init__(
        self,
        concepts: int,
        names: int,
        seed: int,
        languages: int,
        first: int = 0,
        first_name: int = 0,
    ) -> None:
        if first + concepts > MOST_CONCEPTS:
            raise ValueError(f"at most {MOST_CONCEPTS} concepts, not {first + concepts}")
        self.seed = seed
        self.concepts = concepts
        self.first = first
        self.first_name = first_name + 1
        self.names = Names(concepts, names, seed, languages, first=first)
        self.lats = [language.lat for language in self.names.lexicon.languages]
        self.kinds, self.kind_table = atom_kinds(self.lats)
        self.lat_rank = np.argsort(np.argsort(self.lats))
        # Four bytes each: with millions of concepts these arrays are most of the memory.
        self.cuis = self._cuis(np.arange(concepts)).astype(np.int32)
        self.atoms = (self.names.offsets[:-1] + self.first_name).astype(np.int32)

    def _cuis(self, concepts: Ints, used: bool = True) -> Ints:
        # Of every two numbers one is a CUI; the other belongs to a concept of the past, or nobody.
        odd = bits(draw(self.seed, GAPS, concepts), 0, 1)
        return FIRST_CUI + 2 * (self.first + concepts) + (odd if used else 1 - odd)

    def codes(self, concepts: Ints) -> Ints:
        """Give the number that a concept's codes are made of, whatever the seed.

        concepts (Ints): concepts, (n,). RETURNS (Ints): different numbers, (n,).
        """
        return scatter(self.first + concepts, 24, 1) + 100

    def rows(self, first: int, last: int) -> dict[str, list[str]]:
        """Write the rows of the concepts from `first` up to `last`, by CUI.

        first, last (int): concepts.
        RETURNS (dict[str, list[str]]): rows of MRCONSO, MRSTY, MRDEF and MRMAP.
        """
        concepts = np.arange(first, last)
        cuis = [f"C{cui:07d}" for cui in self.cuis[first:last].tolist()]
        block = self.names.block(first, last)
        kind = self.kind_table[block.language, bits(block.random, 16, 8)]
        return {
            "MRCONSO": self._names(block, kind, cuis, first),
            "MRSTY": self._types(concepts, cuis),
            "MRDEF": self._definitions(concepts, cuis),
            "MRMAP": self._map(block, kind),
        }

    def _names(self, block: NameBlock, kind: Ints, cuis: list[str], first: int) -> list[str]:
        group = (block.concept - first) * 32 + self.lat_rank[block.language]
        order = np.argsort(group, kind="stable")
        heads = np.diff(group[order], prepend=-1) != 0
        copied = (block.source != block.number)[order]
        role = np.where(heads, 0, np.where(block.recased[order], 3, np.where(copied, 2, 1)))
        starts = [f"|{lat}|{ts}|L" for lat in self.lats for ts, _, _ in ROLES]
        middles = [(f"|{stt}|S", f"|{pref}|A") for _, stt, pref in ROLES]
        atoms = [atom.atom for atom in self.kinds]
        tails = [atom.tail for atom in self.kinds]
        texts = block.texts
        columns = zip(
            (block.concept[order] - first).tolist(),
            (block.language[order] * len(ROLES) + role).tolist(),
            role.tolist(),
            (block.source[order] + self.first_name).tolist(),
            (((block.source + self.first_name) * STYLES + block.style)[order]).tolist(),
            (block.number[order] + self.first_name).tolist(),
            kind[order].tolist(),
            self.codes(block.concept[order]).tolist(),
            order.tolist(),
            strict=True,
        )
        return [
            f"{cuis[c]}{starts[s]}{lui:07d}{middles[r][0]}{sui:07d}{middles[r][1]}{aui:08d}"
            f"|{atoms[k](code)}{texts[i]}{tails[k]}"
            for c, s, r, lui, sui, aui, k, code, i in columns
        ]

    def _types(self, concepts: Ints, cuis: list[str]) -> list[str]:
        random = draw(self.seed, TYPES, concepts)
        head = self.names.core(concepts) >> 13
        count = len(SEMANTIC_TYPES)
        one = head % count
        # One concept in seven has a second type.
        two = np.where(bits(random, 0, 12) < 585, (one + 1 + bits(random, 12, 3)) % count, one)
        ends = [(f"|{tui}|{stn}|{sty}|AT", "|256|") for tui, stn, sty in SEMANTIC_TYPES]
        rows = []
        for cui, c, a, b in zip(cuis, concepts.tolist(), one.tolist(), two.tolist(), strict=True):
            for place, kind in enumerate(sorted({a, b})):
                start, end = ends[kind]
                rows.append(f"{cui}{start}{2 * (self.first + c) + place:08d}{end}")
        return rows

    def _definitions(self, concepts: Ints, cuis: list[str]) -> list[str]:
        random = draw(self.seed, DEFINED, concepts)
        chosen = np.flatnonzero(unit(random) < 0.07)
        choice = draw(self.seed, DEFINED + 1, concepts[chosen])
        texts = definitions(choice)
        sources = bits(choice, 30, 2).tolist()
        sabs = ("MSH", "NCI", "SNOMEDCT_US", "HPO")
        atoms = self.atoms[concepts[chosen]].tolist()
        attributes = (ATUI_DEFINITION + self.first + concepts[chosen]).tolist()
        columns = zip(chosen.tolist(), atoms, attributes, sources, texts, strict=True)
        return [
            f"{cuis[i]}|A{aui:08d}|AT{atui:08d}||{sabs[source]}|{text}|N||"
            for i, aui, atui, source, text in columns
        ]

    def _map(self, block: NameBlock, kind: Ints) -> list[str]:
        preferred = [k for k, atom in enumerate(self.kinds) if atom.sab == "SNOMEDCT_US"]
        mapped = np.isin(kind, preferred[:1])
        numbers = self.codes(block.concept[mapped]).tolist()
        atoms = ATUI_MAP + self.first_name + block.number[mapped]
        return [
            f"{MAP_SET}|SNOMEDCT_US|1|1|AT{atom:08d}||{number}009||{number}009|SCUI|||RQ|mapped_to|"
            f"{icd_code(number)}||{icd_code(number)}|SDUI|||TRUE|ALWAYS {icd_code(number)}|2||||"
            for number, atom in zip(numbers, atoms.tolist(), strict=True)
        ]

    def retired(self) -> list[str]:
        """Write MRCUI: CUIs of the past, one for every 50 of today.

        RETURNS (list[str]): rows by CUI1.
        """
        past = np.arange(0, self.concepts, 50)
        random: Bits = draw(self.seed, GAPS + 10, past)
        heirs = self.cuis[(unit(random) * self.concepts).astype(np.int64)].tolist()
        fate = bits(random, 0, 8).tolist()
        years = bits(random, 8, 4).tolist()
        rows = []
        for old, heir, chance, year in zip(
            self._cuis(past, used=False).tolist(), heirs, fate, years, strict=True
        ):
            start = f"C{old:07d}|{2010 + year}A{'AB'[year % 2]}"
            if chance < 64:
                rows.append(f"{start}|DEL|||||")
            else:
                rel = "SY" if chance < 216 else ("RB", "RN", "RO")[chance % 3]
                rows.append(f"{start}|{rel}|||C{heir:07d}|Y|")
        return rows

    def ranks(self) -> list[str]:
        """Write MRRANK.

        RETURNS (list[str]): rows, best first.
        """
        return rank_rows(self.kinds)

    def sources(self) -> list[str]:
        """Write MRSAB.

        RETURNS (list[str]): rows by source.
        """
        return source_rows(self.kinds, self.lats)
