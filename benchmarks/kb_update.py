"""Time of an update against that of a full build, knowledge base and assets.

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
    names = round(_NAMES_A_CONCEPT * concepts)
    generate(work / "0", concepts, names, fraction=fraction)
    place_model(work / "encoder")
    encoder = ["--encoder", str(work / "encoder")]
    _medlink("kb", "build", "--output", work / "0.kb", work / "0", "--from", "umls")
    _medlink("build", work / "0.kb", "--output", work / "old", *encoder)
    _medlink("build", work / "0.kb", "--output", work / "old_plain")
    found = update_plain(work, work / "0.kb", work / "old_plain", concepts, names, fraction)
    for kind, given in (("full", encoder), ("update", ["--update", work / "old"])):
        seconds = _medlink("build", work / f"{kind}.kb", "--output", work / kind, *given)
        found |= {f"assets_{kind}_s": seconds, f"both_{kind}_s": seconds + found[f"kb_{kind}_s"]}
    manifest = Assets(work / "update").manifest
    used = {key: manifest["update"][key] for key in ("reused", "encoded", "dropped")}
    return {"encoder": "all-MiniLM-L6-v2", **found, **used}


def update_plain(
    work: Path, kb: Path, assets: Path, concepts: int, names: int, fraction: float = _FRACTION
) -> dict[str, Any]:
    """Build next year's release and its exact and n-gram tiers, in full and as an update.

    work (Path): directory for data. kb, assets (Path): of the first year, without an encoder.
    concepts, names (int): of the release. fraction (float): share of the names that change.
    RETURNS (Dict[str, Any]): seconds of each, counts of names.
    """
    release = work / "1"
    generate(release, concepts, names, year=1, fraction=fraction)
    found: dict[str, Any] = {"changed": fraction}
    for kind, of_kb, of_assets in (
        ("full", [], []),
        ("update", ["--update", kb], ["--update", assets]),
    ):
        own, plain = work / f"{kind}.kb", work / f"{kind}_plain"
        found[f"kb_{kind}_s"] = _medlink(
            "kb", "build", "--output", own, release, "--from", "umls", *of_kb
        )
        found[f"plain_{kind}_s"] = _medlink("build", own, "--output", plain, *of_assets)
    manifest = Assets(work / "update_plain").manifest
    changed = manifest["calibrator"]["changed_names"]
    return {**found, "names": manifest["kb"]["names"], "changed_since_fit": changed}


def _medlink(*arguments: object) -> float:
    seconds: float = run_command(*map(str, arguments))["wall_s"]
    return seconds


def main(work: Path, concepts: int = 30_000) -> None:
    """Measure and print."""
    for name, value in measure_update(work, concepts).items():
        typer.echo(f"{name}: {value}")


if __name__ == "__main__":
    typer.run(main)
