"""Compare the tiers and encoders on held-out names, in one table.

`python -m training.compare KB --holdout DIR --base DIR --trained DIR --output metrics/compare.json`
"""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from spacy_medlink.assets import Assets
from spacy_medlink.assets.assets import DENSE_FILE, EXACT, NGRAM
from spacy_medlink.building import build_assets
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.types import Concept, Mention
from spacy_medlink.util.devices import AUTO
from spacy_medlink.util.files import replacing_file
from spacy_medlink.util.outputs import check_output, companion, marked
from spacy_medlink.util.progress import show_progress

from .data.holdout import Holdout, Query
from .verbs import Device, Overwrite, run

RANKS = (1, 5, 20)
_FORMAT = "spacy-medlink comparison"
_RESULTS = marked("a comparison of tiers and encoders", f'"format": "{_FORMAT}"')
_PARTS = {"exact": [EXACT], "ngram": [NGRAM], "dense": [DENSE_FILE, "encoder"]}


def compare(
    kb: Path, holdout: Path, base: Path, trained: Path, device: str = AUTO
) -> dict[str, Any]:
    """Measure every tier, both encoders and the fusion on the test half of a hold-out.

    kb (Path): knowledge base with all names; the held-out ones are left out of what is searched.
    holdout (Path): directory of a `training.data.holdout.Holdout`. base, trained (Path): encoders.
    device (str): where they compute.
    RETURNS (Dict): `queries`, `names` and `systems`, one row each: system, acc@k in per cent,
        seconds for all queries, MB on disk of what it searches with.
    """
    knowledge = KnowledgeBase(kb)
    held_out = Holdout.load(holdout, knowledge)
    with TemporaryDirectory() as directory:
        place = Path(directory)
        build_kb(place / "kb.sqlite", _without(knowledge, set(held_out.rows)))
        systems = _measure_all(place, base, trained, held_out.test, device)
    return {"queries": len(held_out.test), "names": knowledge.n_names, "systems": systems}


def _without(kb: KnowledgeBase, rows: set[int]) -> Iterator[Concept]:
    for concept in kb:
        numbered = enumerate(concept.names, start=concept.first_name)
        yield replace(concept, names=tuple(name for row, name in numbered if row not in rows))


def table(results: dict[str, Any]) -> str:
    """Write results as a table in Markdown."""
    lines = [
        "| system | " + " | ".join(f"acc@{k}" for k in RANKS) + " | seconds | MB |",
        "|---|" + "---:|" * (len(RANKS) + 2),
    ]
    for row in results["systems"]:
        accuracies = " | ".join(f"{row[f'acc@{k}']:.1f}" for k in RANKS)
        lines.append(f"| {row['system']} | {accuracies} | {row['seconds']:.1f} | {row['mb']:.0f} |")
    queries, names = results["queries"], results["names"]
    lines += ["", f"{queries:,} held-out names as queries, ranks count concepts, {names:,} names."]
    return "\n".join(lines)


def _measure_all(
    place: Path, base: Path, trained: Path, queries: Sequence[Query], device: str
) -> list[dict[str, Any]]:
    kb = place / "kb.sqlite"
    build = partial(build_assets, device=device, progress=show_progress)
    before = build(place / "base", kb, base)
    kept_base = _fingerprint(base) == _fingerprint(trained)
    after = before if kept_base else build(place / "sap", kb, trained)
    trained_name = "trained encoder (the base was kept)" if kept_base else "trained encoder"
    return [
        _measure("exact", before, ["exact"], queries),
        _measure("n-gram", before, ["ngram"], queries),
        _measure("base encoder", before, ["dense"], queries),
        _measure(trained_name, after, ["dense"], queries),
        _measure("fused", after, ["exact", "ngram", "dense"], queries),
    ]


def _measure(
    system: str, assets: Assets, tiers: list[str], queries: Sequence[Query]
) -> dict[str, Any]:
    engine = assets.engine(tiers)
    engine.rank([Mention("warm up")], 1)
    start = time.perf_counter()
    rankings = engine.rank([Mention(query.text) for query in queries], max(RANKS))
    seconds = time.perf_counter() - start
    places = [
        next((place for place, item in enumerate(ranking) if item.row == query.concept), max(RANKS))
        for query, ranking in zip(queries, rankings, strict=True)
    ]
    accuracies = {f"acc@{k}": 100 * sum(place < k for place in places) / len(places) for k in RANKS}
    size = sum(_size(assets.path / part) for tier in tiers for part in _PARTS[tier])
    return {"system": system, **accuracies, "seconds": seconds, "mb": size / 1e6}


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def _fingerprint(encoder: Path) -> str:
    return BiEncoder.load(encoder).fingerprint()


def main(
    kb: Annotated[Path, typer.Argument(help="Knowledge base with all names.")],
    holdout: Annotated[Path, typer.Option(help="Directory of the held-out names.")],
    base: Annotated[Path, typer.Option(help="The encoder before training.")],
    trained: Annotated[Path, typer.Option(help="The encoder after training.")],
    output: Annotated[Path, typer.Option(help="JSON file; the table goes beside it as .md.")],
    device: Device = AUTO,
    overwrite: Overwrite = False,
) -> None:
    """Compare tiers and encoders on held-out names."""
    inputs, page = [kb, holdout, base, trained], output.with_suffix(".md")
    as_table = companion("the table of a comparison", _RESULTS, output)
    check_output(page, as_table, inputs, overwrite=overwrite)
    check_output(output, _RESULTS, inputs, overwrite=overwrite)
    results = compare(kb, holdout, base, trained, device)
    text = table(results)
    with replacing_file(output, _RESULTS, inputs, overwrite=overwrite) as path:
        facts = json.dumps({"format": _FORMAT, **results}, indent=2)
        path.write_text(facts + "\n", encoding="utf-8")
    with replacing_file(page, as_table, inputs, overwrite=overwrite) as path:
        path.write_text(text + "\n", encoding="utf-8")
    typer.echo(text)


if __name__ == "__main__":
    run(main)
