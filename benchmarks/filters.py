"""Margins for concepts outside a filter: `python -m benchmarks.filters ASSETS`.

ASSETS are over MEDIC, with an encoder. The mentions are those of the NCBI disease corpus and the
diseases of BC5CDR in the data directory (MEDLINK_DATA). The filters pass a random half of the
concepts (twice), concepts whose preferred name says that they are tumours, and all others. A
mention should be NIL if its concept is outside the filter, and linked if it is within. For margins
from 0 to 0.3 this counts the lost right links within, and the links of mentions whose concept is
outside. "as before" links the best concept within. Figures go to OUTPUT as JSON, and to a Markdown
table beside it.
"""

import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from benchmarks.diseases import CORPORA, diseases
from benchmarks.measured import machine, write_results
from spacy_medlink.assets import Assets
from spacy_medlink.fitting.examples import gold_examples
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.linking import outside
from spacy_medlink.retrieval.filters import Filter
from spacy_medlink.types import Mention

MARGINS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
_TUMOURS = (
    "carcinoma", "tumor", "neoplasm", "cancer", "sarcoma", "lymphoma", "leukemia", "blastoma",
    "glioma", "adenoma", "melanoma",
)  # fmt: skip
_BEFORE = "as before"


def filters(kb: KnowledgeBase) -> Mapping[str, Filter]:
    """Make the filters, by name."""
    ids = list(kb.iter_ids())
    named = {id: kb[id].name.casefold() for id in ids}
    tumours = [id for id in ids if any(word in named[id] for word in _TUMOURS)]
    chosen = {
        "a half": random.Random(0).sample(ids, len(ids) // 2),
        "another half": random.Random(1).sample(ids, len(ids) // 2),
        "tumours": tumours,
        "no tumours": sorted(set(ids) - set(tumours)),
    }
    return {name: Filter.of(allow=own) for name, own in chosen.items()}


def measure(
    assets: Assets, gold: Sequence[tuple[Mention, frozenset[int]]], only: Filter
) -> dict[str, Any]:
    """Count links under one filter, for each margin; `seconds` a mention without and with it."""
    engine = assets.engine(calibrator=False)
    mask = engine.scopes.of("", only).mask
    mentions = [mention for mention, _ in gold]
    within = [any(engine.tiers.has_name(row, mask) for row in rows) for _, rows in gold]
    engine.rank(mentions[:8], 1, only)  # reads the memory-mapped files before the clock starts
    engine.retrieval.clear()
    start = time.process_time()
    engine.retrieve(mentions, 1, only, force=True)
    between = time.process_time()
    engine.retrieval.clear()
    again = time.process_time()
    engine.retrieve(mentions, 1, only)
    seconds = {"forced": between - start, "filtered": time.process_time() - again}
    counts, default = {}, outside.MARGIN
    for margin in (None, *MARGINS):
        outside.MARGIN = default if margin is None else margin
        rankings, better = engine.retrieve(mentions, 1, only, force=margin is None)
        linked = [
            (bool(own) and own[0].row in rows, inside, bool(own) and one is None)
            for own, one, inside, (_, rows) in zip(rankings, better, within, gold, strict=True)
        ]
        counts[_BEFORE if margin is None else str(margin)] = {
            "right": sum(right and inside and is_linked for right, inside, is_linked in linked),
            "outside_linked": sum(is_linked and not inside for _, inside, is_linked in linked),
        }
    outside.MARGIN = default
    return {"within": sum(within), "outside": len(gold) - sum(within), "counts": counts,
            "seconds": seconds}  # fmt: skip


def _table(found: Mapping[str, dict[str, Any]], part: str) -> str:
    lines = ["| filter | margin | right links within | links of what is outside |"]
    lines.append("|---|---|---:|---:|")
    for name, own in found.items():
        for margin, counts in own["counts"].items():
            right, wrong = counts["right"], counts["outside_linked"]
            lines.append(f"| {name} | {margin} | {right:,} | {wrong:,} of {own['outside']:,} |")
    seconds = [own["seconds"] for own in found.values()]
    more = sum(one["filtered"] for one in seconds) / sum(one["forced"] for one in seconds)
    lines.append("")
    lines.append(f"Distinct mentions of the {part} parts. Processor time of a filtered search with")
    lines.append(f"the search outside, by that without it: {more:.2f}.")
    return "\n".join(lines)


def main(
    assets: Annotated[Path, typer.Argument(help="Assets over MEDIC, with an encoder.")],
    part: Annotated[str, typer.Option(help="Of the corpora: train to choose, or dev.")] = "train",
    mentions: Annotated[int, typer.Option(help="Distinct mentions, at most.")] = 1500,
    output: Annotated[Path, typer.Option(help="JSON; a table goes beside it.")] = Path(
        "benchmarks/results/filters.json"
    ),
) -> None:
    """Measure what filters leave out."""
    opened = Assets(assets)
    with TemporaryDirectory(prefix="medlink-filters-") as work:
        questions = [
            one
            for corpus in CORPORA
            for one in gold_examples(diseases(corpus, part, Path(work)), opened.kb)
        ]
    gold = {(one.mention.text, one.right): (one.mention, one.right) for one in questions}
    known = [own for (_, right), own in gold.items() if right]
    random.Random(0).shuffle(known)
    found = {
        name: measure(opened, known[:mentions], only) for name, only in filters(opened.kb).items()
    }
    results = {"part": part, "filters": found, "machine": machine()}
    write_results(output, results, _table(found, part))


if __name__ == "__main__":
    typer.run(main)
