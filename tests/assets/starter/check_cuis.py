"""Compare the CUIs of the starter KB with open names that carry CUIs.

    python tests/assets/starter/check_cuis.py [OPEN_NAMES.jsonl.gz]

A CUI counts as verified when one English name of ours is a name of the same CUI there. The file
is not part of the project: without it, the script says so and ends with exit code 1.
"""

import gzip
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[3]
STARTER_KB = ROOT / "spacy_medlink" / "assets" / "starter" / "kb.jsonl"
DATA = Path(os.environ.get("MEDLINK_DATA") or ROOT.parent / "shared" / "data")
OPEN_NAMES = DATA / "open_umls.kb.jsonl.gz"

# Shorter abbreviations belong to too many concepts to prove anything.
_SHORTEST_PROOF = 3
_UNSPECIFIED = re.compile(r"\bnos\b")
_PUNCTUATION = re.compile(r"[\W_]+")

Entry = dict[str, Any]


class Coverage(NamedTuple):
    """Concept ids by what the open names say of them."""

    verified: list[str]
    mismatched: list[str]
    not_there: list[str]


def read_starter(path: Path = STARTER_KB) -> list[Entry]:
    """Read the shipped KB, one JSON object a line, in file order."""
    return [json.loads(line) for line in path.read_text("utf8").splitlines()]


def fold(name: str) -> str:
    """Drop what does not tell two names apart: case, punctuation, spaces, "NOS", a plural s."""
    folded = _PUNCTUATION.sub("", _UNSPECIFIED.sub("", name.casefold()))
    return folded.removesuffix("s")


def english_names(entry: Entry) -> set[str]:
    """Folded English names of a concept."""
    return {fold(name["name"]) for name in entry["names"] if name["lang"] == "en"}


def read_open_names(path: Path = OPEN_NAMES) -> Iterator[Entry]:
    """Stream the concepts of a `.jsonl.gz` file."""
    with gzip.open(path, "rt", encoding="utf8") as lines:
        yield from map(json.loads, lines)


def compare(starter: Iterable[Entry], open_entries: Iterable[Entry]) -> Coverage:
    """Look for every starter concept under its CUI among the open names."""
    ours = {entry["concept_id"]: english_names(entry) for entry in starter}
    theirs = {
        entry["concept_id"]: english_names(entry) | {fold(entry["canonical_name"])}
        for entry in open_entries
        if entry["concept_id"] in ours
    }
    coverage = Coverage([], [], [])
    for cui, names in ours.items():
        proofs = {name for name in names if len(name) >= _SHORTEST_PROOF}
        if cui not in theirs:
            coverage.not_there.append(cui)
        elif proofs & theirs[cui]:
            coverage.verified.append(cui)
        else:
            coverage.mismatched.append(cui)
    return coverage


def summary(coverage: Coverage, starter: Iterable[Entry]) -> str:
    """Write the report: counts first, then the concepts that were not verified."""
    names = {entry["concept_id"]: entry["canonical_name"] for entry in starter}
    lines = [
        f"{len(names)} concepts: {len(coverage.verified)} CUIs verified, "
        f"{len(coverage.mismatched)} mismatched, {len(coverage.not_there)} not in the file"
    ]
    lines += [f"MISMATCH {cui} {names[cui]}" for cui in coverage.mismatched]
    lines += [f"not in the file: {cui} {names[cui]}" for cui in coverage.not_there]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Print the report. RETURNS (int): 0 when nothing mismatches, 1 otherwise."""
    path = Path(arguments[0]) if arguments else OPEN_NAMES
    if not path.exists():
        print(f"{path} is missing: pass the file, or set MEDLINK_DATA to its folder")
        return 1
    starter = read_starter()
    coverage = compare(starter, read_open_names(path))
    print(summary(coverage, starter))
    return int(bool(coverage.mismatched))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
