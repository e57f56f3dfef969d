"""Maps from a synthetic SNOMED CT snapshot to classifications."""

import numpy as np

from benchmarks.synthetic.draws import bits, draw, unit
from benchmarks.synthetic.snomed import MAPPED, ROOT, SIMPLE, TAGS, Snapshot, table
from benchmarks.synthetic.sources import icd_code

ICD10_MAP, CTV3_MAP, ICDO_MAP = 447562003, 900000000000497000, 446608001
CORRELATION, CLASSIFIED, UNCLASSIFIED = 447561005, 447637006, 447638001
MAPPED_KINDS = [i for i, tag in enumerate(TAGS) if tag in ("disorder", "finding")]
NEOPLASM = 1  # position of its ending


def extended_map_rows(snapshot: Snapshot, first: int, last: int) -> list[str]:
    """Write the map to ICD-10: of disorders and findings, some by rules, some to no code.

    snapshot (Snapshot): the release. first, last (int): active concepts.
    RETURNS (list[str]): rows.
    """
    concepts = np.arange(first, last)
    random = draw(snapshot.seed, MAPPED, concepts)
    chance = unit(random)
    mapped = np.isin(snapshot.kinds(concepts), MAPPED_KINDS) & (bits(random, 0, 4) < 10)
    ruled, grouped, failed = chance < 0.15, chance > 0.9, (chance > 0.8) & (chance < 0.85)
    cases = [  # which concepts, group, priority, rule
        (ruled, 1, 1, f"IFA {ROOT} | Synthetic condition (finding) |"),
        (ruled, 1, 2, "OTHERWISE TRUE"),
        (~ruled, 1, 1, "TRUE"),
        (grouped, 2, 1, "TRUE"),
    ]
    rows = []
    for i, (case, group, priority, rule) in enumerate(cases):
        chosen = mapped & case
        nothing = failed[chosen].tolist()
        numbers = (bits(random, 8, 16) + 977 * i)[chosen].tolist()
        codes = ["" if no else icd_code(n) for n, no in zip(numbers, nothing, strict=True)]
        rows += table(
            snapshot.members(MAPPED, concepts[chosen] * len(cases) + i),
            ICD10_MAP,
            snapshot.ids(concepts[chosen]),
            group,
            priority,
            rule,
            [f"ALWAYS {code}" if code else "CANNOT BE CLASSIFIED" for code in codes],
            codes,
            CORRELATION,
            [UNCLASSIFIED if no else CLASSIFIED for no in nothing],
        )
    return rows


def simple_map_rows(snapshot: Snapshot, first: int, last: int) -> list[str]:
    """Write the maps to CTV3, for half of the concepts, and to ICD-O, for neoplasms.

    snapshot (Snapshot): the release. first, last (int): active concepts.
    RETURNS (list[str]): rows.
    """
    concepts = np.arange(first, last)
    random = draw(snapshot.seed, SIMPLE, concepts)
    rows = []
    cases = (
        (bits(random, 0, 1) == 0, CTV3_MAP),
        (snapshot.kinds(concepts) == NEOPLASM, ICDO_MAP),
    )
    for i, (case, refset) in enumerate(cases):
        numbers = bits(random, 8, 16)[case].tolist()
        codes = [
            f"X{n:04x}" if refset == CTV3_MAP else f"{8000 + n % 1990}/{n % 4}" for n in numbers
        ]
        start = snapshot.members(SIMPLE, concepts[case] * len(cases) + i)
        rows += table(start, refset, snapshot.ids(concepts[case]), codes)
    return rows
