"""Measure the linker of a workflow on its test gold.

`python -m training.evaluate models/linker gold --base models/base --output metrics/evaluation.json`
A pipeline in place of assets is measured from raw text to links.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_medlink.assets import Assets
from spacy_medlink.assets.vectors import NameVectors
from spacy_medlink.components.pipelines import (
    is_pipeline,
    linker_of,
    open_pipeline,
    spans_of_texts,
)
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.evaluation import Settings, load_gold, measure, measure_pipeline
from spacy_medlink.linking import Linker, LinkSettings, Parts
from spacy_medlink.retrieval.dense import DenseIndex
from spacy_medlink.retrieval.fusion import WeightedFusion
from spacy_medlink.util.devices import AUTO, find_device
from spacy_medlink.util.progress import show_progress

from .data.mentions import why_nothing
from .verbs import Device, Outputs, Overwrite, as_table, per_cent, run_verb

KS = (1, 5)
_ENDING = ".test.jsonl"
_MEASURES = ("spans", "strict", "document")
_NO_TEXT = "No annotated text was there to measure with."
_COUNTED = "Gold mentions whose concept the knowledge base has; ranks count concepts."
_NOTHING = (
    "No gold mentions were there to measure with: metrics/train_compare.md has held-out names."
)


def evaluate(
    assets: Path, gold: Path, base: Path | None = None, device: str = AUTO
) -> dict[str, Any]:
    """Measure a linker on every file NAME.test.jsonl of a directory.

    Mentions whose concept the knowledge base lacks are left out and counted: corpora may be
    annotated with a larger terminology.

    base (Optional[Path]): the encoder before any training, measured too.
    device (str): where the networks compute.
    RETURNS (Dict[str, Any]): "corpora", by name: `mentions` measured, `gold` in all, and "systems"
        with acc@k in per cent; "left_out", by name: why a corpus was not measured.
    RAISES (MedlinkError): E201-E204 for the assets, E4xx for a gold file.
    """
    linker = Assets(assets, device=device)
    corpora, left_out = {}, {}
    for path in sorted(gold.glob(f"*{_ENDING}")):
        name = path.name.removesuffix(_ENDING)
        why = why_nothing(linker.kb, path)
        if why:
            left_out[name] = why
        else:
            corpora[name] = _measured(linker, path, base)
    return {"corpora": corpora, "left_out": left_out}


def _measured(assets: Assets, gold: Path, base: Path | None) -> dict[str, Any]:
    settings = Settings(ks=KS, each_tier=True, only_known=True)
    others = {} if base is None else {"base": _untrained(assets, base)}
    gold_set = load_gold(gold, assets.kb)
    metrics = measure(assets, gold_set, settings, show_progress, baselines=others)
    systems = {**metrics["baselines"], "linker": metrics}
    return {
        "mentions": metrics["n"],
        "gold": metrics["gold"],
        "systems": {name: per_cent(figures, KS) for name, figures in systems.items()},
    }


def _untrained(assets: Assets, base: Path) -> Linker:
    """Index all names with another encoder, with the pooling of the assets' encoder."""
    described = assets.manifest["encoder"]
    device = find_device(assets.device)
    encoder = BiEncoder.load(base, described["pooling"] if described else None, device=device)
    encoder.halve()
    vectors = NameVectors(encoder, assets.kb).stream(show_progress)
    dense = DenseIndex.build(vectors, assets.kb.n_names, encoder.dim, "Flat")
    parts = Parts(
        assets.name_concept,
        others={"dense": dense.move(device)},
        encoder=encoder,
        fusion=WeightedFusion({"dense": 1.0}),
    )
    return Linker.of(parts, LinkSettings(top_k=max(KS), threshold=0.0))


def evaluate_pipeline(source: Path, gold: Path, device: str = AUTO) -> dict[str, Any]:
    """Measure a pipeline from raw text to links, on every file NAME.test.jsonl of a directory.

    RETURNS (Dict[str, Any]): "end_to_end", by name: scores of `evaluation.measure_pipeline`.
    RAISES (MedlinkError): E201-E204, E603 for the pipeline, E4xx for a gold file.
    """
    nlp = open_pipeline(str(source), device=device)
    linker = linker_of(nlp)
    scores = {
        path.name.removesuffix(_ENDING): measure_pipeline(
            lambda _, texts: spans_of_texts(nlp, texts),
            linker.kb,
            load_gold(path, linker.kb),
            show_progress,
        )
        for path in sorted(gold.glob(f"*{_ENDING}"))
    }
    return {"end_to_end": scores}


def end_to_end_table(results: dict[str, Any]) -> str:
    """Write results of a pipeline as a table in Markdown, a row for each corpus and measure."""
    shown = {"precision": "P", "recall": "R", "f1": "F1"}
    rows = [
        {"corpus": name, "measure": measure}
        | {
            head: "" if scores[measure][of] is None else 100 * scores[measure][of]
            for of, head in shown.items()
        }
        for name, scores in results["end_to_end"].items()
        for measure in _MEASURES
    ]
    return as_table(rows) if rows else _NO_TEXT


def table(results: dict[str, Any]) -> str:
    """Write results as a table in Markdown, a column for each corpus."""
    rows: dict[str, dict[str, str]] = {}
    for name, corpus in results["corpora"].items():
        head = f"{name} ({corpus['mentions']:,} mentions)"
        for system, figures in corpus["systems"].items():
            row = rows.setdefault(system, {"acc@1 / @5, %": system})
            row[head] = f"{figures['acc@1']:.1f} / {figures['acc@5']:.1f}"
    lines = [as_table([*rows.values()]), "", _COUNTED] if rows else [_NOTHING]
    left_out = results["left_out"].items()
    return "\n".join([*lines, *(f"{name} is left out: {why}." for name, why in left_out)])


def main(
    assets: Annotated[Path, typer.Argument(help="Assets of the linker, or a pipeline.")],
    gold: Annotated[Path, typer.Argument(help="Directory with files NAME.test.jsonl.")],
    output: Annotated[Path, typer.Option(help="JSON file; the table goes beside it as .md.")],
    base: Annotated[Path | None, typer.Option(help="The encoder before any training.")] = None,
    device: Device = AUTO,
    overwrite: Overwrite = False,
) -> None:
    """Measure a linker on gold mentions that nothing has learned from."""
    outputs = Outputs(output, "an evaluation of a workflow", [assets, gold, base], overwrite)
    if is_pipeline(str(assets)):
        results = evaluate_pipeline(assets, gold, device)
        outputs.write(results, end_to_end_table(results))
    else:
        results = evaluate(assets, gold, base, device)
        outputs.write(results, table(results))


if __name__ == "__main__":
    run_verb(main)
