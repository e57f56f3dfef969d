"""Time of an update against that of a full build, knowledge base and assets, with a real encoder.

python -m benchmarks.kb_update WORK --concepts 30000
"""

from pathlib import Path
from typing import Any

import typer

from benchmarks.measured import run_command
from benchmarks.synthetic.umls import generate
from spacy_medlink.assets import Assets
from training.embedded import place_model

_NAMES_A_CONCEPT = 3.57  # as in the UMLS
_FRACTION = 0.01


def measure_update(work: Path, concepts: int, fraction: float = _FRACTION) -> dict[str, Any]:
    """Build a release and its assets, then next year's: once in full, once as an update.

    work (Path): directory for data. concepts (int): of the release.
    fraction (float): share of the names that change.
    RETURNS (Dict[str, Any]): seconds of each, counts of names.
    """
    for year in (0, 1):
        names = round(_NAMES_A_CONCEPT * concepts)
        generate(work / str(year), concepts, names, year=year, fraction=fraction)
    place_model(work / "encoder")
    encoder = ["--encoder", str(work / "encoder")]
    _medlink("kb", "build", "--output", work / "0.kb", work / "0", "--from", "umls")
    _medlink("build", work / "0.kb", "--output", work / "old", *encoder)
    _medlink("build", work / "0.kb", "--output", work / "old_plain")
    found: dict[str, Any] = {}
    for kind, of_kb, of_assets, of_plain in (
        ("full", [], encoder, []),
        ("update", ["--update", work / "0.kb"], ["--update", work / "old"],
         ["--update", work / "old_plain"]),
    ):  # fmt: skip
        kb = work / f"{kind}.kb"
        seconds = [
            _medlink("kb", "build", "--output", kb, work / "1", "--from", "umls", *of_kb),
            _medlink("build", kb, "--output", work / kind, *of_assets),
        ]
        for what, value in zip(("kb", "assets", "both"), (*seconds, sum(seconds)), strict=True):
            found[f"{what}_{kind}_s"] = value
        plain = _medlink("build", kb, "--output", work / f"{kind}_plain", *of_plain)
        found[f"plain_{kind}_s"] = plain
    manifest = Assets(work / "update").manifest
    used = {key: manifest["update"][key] for key in ("reused", "encoded", "dropped")}
    used |= {"changed_since_fit": manifest["calibrator"]["changed_names"]}
    return {"encoder": "all-MiniLM-L6-v2", "names": manifest["kb"]["names"], "changed": fraction,
            **used, **found}  # fmt: skip


def _medlink(*arguments: object) -> float:
    seconds: float = run_command(*map(str, arguments))["wall_s"]
    return seconds


def main(work: Path, concepts: int = 30_000) -> None:
    """Measure and print."""
    for name, value in measure_update(work, concepts).items():
        typer.echo(f"{name}: {value}")


if __name__ == "__main__":
    typer.run(main)
