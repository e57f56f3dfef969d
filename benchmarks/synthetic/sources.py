"""Source vocabularies, term types and semantic types: real labels, on invented content."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.synthetic.draws import Ints

RELEASE = "2026AA"
ICD_CODES = [f"{chr(65 + i // 1000)}{i // 10 % 100:02d}.{i % 10}" for i in range(26_000)]

# SAUI|SCUI|SDUI and CODE of a vocabulary's atoms, from the number of the concept.
CODES = {
    "SNOMEDCT_US": ("|{0}009|", "{0}009"),
    "SCTSPA": ("|{0}009|", "{0}009"),
    "MSH": ("|M{0:07d}|D{0:06d}", "D{0:06d}"),
    "ICD10CM": ("|{1}|{1}", "{1}"),
    "MDR": ("||1{0:07d}", "1{0:07d}"),
    "NCI": ("|C{0}|", "C{0}"),
    "HPO": ("||HP:{0:07d}", "HP:{0:07d}"),
    "RXNORM": ("{0}|{0}|", "{0}"),
    "OMIM": ("||{0:06d}", "{0:06d}"),
    "LNC": ("|{0}-7|", "{0}-7"),
    "MTH": ("||", "U{0:06d}"),
}

# SAB, TTY, SUPPRESS, weight; best name first, as in MRRANK. N is in use, O obsolete, E and Y
# suppressed by an editor and by a rule.
ENGLISH = """MTH PN N 16
SNOMEDCT_US PT N 28
SNOMEDCT_US FN N 28
SNOMEDCT_US SY N 26
MSH MH N 10
MSH NM N 10
MSH ET N 20
MSH PM N 8
NCI PT N 14
HPO PT N 4
NCI SY N 14
HPO SY N 5
ICD10CM PT N 8
ICD10CM ET N 5
MDR PT N 4
MDR LLT N 8
RXNORM SCD N 8
RXNORM BN N 5
OMIM PTCS N 4
LNC LN N 8
SNOMEDCT_US SY E 2
ICD10CM AB Y 5
SNOMEDCT_US OAP O 5
SNOMEDCT_US OAF O 3
NCI OP O 1
MDR OL Y 2
RXNORM OCD O 4
HPO IS O 1"""
SPANISH = """SCTSPA PT N 60
SCTSPA FN N 60
SCTSPA SY N 50
MSHSPA MH N 20
MSHSPA ET N 20
MDRSPA PT N 10
MDRSPA LLT N 18
SCTSPA OAP O 16
MDRSPA OL Y 2"""
OTHER = """MSH{0} MH N 70
MSH{0} ET N 90
MDR{0} PT N 30
MDR{0} LLT N 50
MDR{0} OL Y 8
MSH{0} DSV O 8"""


@dataclass(frozen=True)
class AtomKind:
    """A kind of row of MRCONSO.

    sab, tty, suppress (str): as in the columns. weight (int): of 256 rows of its language.
    atom (Callable): number of the concept to the columns SAUI to CODE, each with its bar.
    """

    sab: str
    tty: str
    suppress: str
    weight: int
    atom: Callable[[int], str]

    @property
    def tail(self) -> str:
        """The columns after the name."""
        level = 4 if self.sab.startswith("MDR") else 9 if self.sab.startswith("SCT") else 0
        return (
            f"|{level}|{self.suppress}|256|"
            if self.suppress == "N"
            else (f"|{level}|{self.suppress}||")
        )


def icd_code(number: int) -> str:
    """Give the ICD-10-CM code of a concept; many concepts share one.

    number (int): the concept's number. RETURNS (str): such as E11.9.
    """
    return ICD_CODES[number % len(ICD_CODES)]


def _with_icd(template: str, number: int) -> str:
    return template.format(number, icd_code(number))


def _kind(row: str) -> AtomKind:
    sab, tty, suppress, weight = row.split()
    ids, code = CODES[sab] if sab in CODES else CODES[sab[:3]]
    template = f"{ids}|{sab}|{tty}|{code}|"
    atom = partial(_with_icd, template) if "{1}" in template else template.format
    return AtomKind(sab, tty, suppress, int(weight), atom)


def atom_kinds(lats: list[str]) -> tuple[list[AtomKind], Ints]:
    """List the kinds of atoms of some languages, and the table to draw them from.

    lats (list[str]): codes of languages.
    RETURNS (tuple[list[AtomKind], Ints]): the kinds, and positions in that list, (n_lats, 256).
    """
    kinds: list[AtomKind] = []
    table = np.zeros((len(lats), 256), dtype=np.int64)
    for i, lat in enumerate(lats):
        text = {"ENG": ENGLISH, "SPA": SPANISH}.get(lat, OTHER.format(lat))
        rows = [_kind(row) for row in text.splitlines()]
        places = np.arange(len(rows)) + len(kinds)
        table[i] = np.repeat(places, [kind.weight for kind in rows])
        kinds += rows
    return kinds, table


# TUI, STN, STY; in the order of the English endings of head words.
SEMANTIC_TYPES = [
    ("T047", "B2.2.1.2.1", "Disease or Syndrome"),
    ("T191", "B2.2.1.2.1.2", "Neoplastic Process"),
    ("T046", "B2.2.1.2", "Pathologic Function"),
    ("T048", "B2.2.1.2.1.1", "Mental or Behavioral Dysfunction"),
    ("T184", "A2.2.2", "Sign or Symptom"),
    ("T033", "A2.2", "Finding"),
    ("T037", "B2.3", "Injury or Poisoning"),
    ("T121", "A1.4.1.1.1", "Pharmacologic Substance"),
    ("T109", "A1.4.1.2.1", "Organic Chemical"),
    ("T116", "A1.4.1.2.1.7", "Amino Acid, Peptide, or Protein"),
    ("T061", "B1.3.1.3", "Therapeutic or Preventive Procedure"),
    ("T060", "B1.3.1.2", "Diagnostic Procedure"),
    ("T023", "A1.2.3.1", "Body Part, Organ, or Organ Component"),
    ("T028", "A1.2.3.5", "Gene or Genome"),
    ("T200", "A1.3.3", "Clinical Drug"),
    ("T059", "B1.3.1.1", "Laboratory Procedure"),
]


def rank_rows(kinds: list[AtomKind]) -> list[str]:
    """Write MRRANK: the better a name, the higher its rank.

    kinds (list[AtomKind]): the kinds of atoms.
    RETURNS (list[str]): rows, best first.
    """
    ordered = sorted(kinds, key=lambda kind: kind.suppress != "N")
    return [
        f"{len(ordered) - i:04d}|{kind.sab}|{kind.tty}|{kind.suppress}|"
        for i, kind in enumerate(ordered)
    ]


def source_rows(kinds: list[AtomKind], lats: list[str]) -> list[str]:
    """Write MRSAB: the version of every source vocabulary.

    kinds (list[AtomKind]): the kinds of atoms. lats (list[str]): codes of languages.
    RETURNS (list[str]): rows of 25 columns, by root abbreviation.
    """
    term_types: dict[str, set[str]] = {}
    for kind in kinds:
        term_types.setdefault(kind.sab, set()).add(kind.tty)
    rows = []
    for sab, ttys in sorted(term_types.items()):
        lat = next((lat for lat in lats if sab.endswith(lat)), "ENG")
        rows.append(
            f"||{sab}_{RELEASE}|{sab}|Synthetic {sab}|{sab}|{RELEASE}|||{RELEASE}||||0|||"
            f"|{','.join(sorted(ttys))}||{lat}|UTF-8|Y|Y|Synthetic {sab}||"
        )
    return rows
