"""`medlink build`: from a knowledge base and an encoder to the assets of a linker."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..components.pipelines import STARTER
from ..encoders.preparation import POOLINGS
from ..types import Data, Facts
from .effects import memory_report
from .opening import AUTO, Device
from .output import Overwrite, table
from .parsing import one_of

if TYPE_CHECKING:
    from ..assets import Assets


def command(
    kb_path: Annotated[Path, typer.Argument(metavar="KB", help="The knowledge base, or starter.")],
    output: Annotated[Path, typer.Option(help="The directory of assets to write.")],
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Directory of a Hugging Face model, or its name on the Hub, which is then "
            "fetched. Without it, only the exact and n-gram tiers are built."
        ),
    ] = None,
    index: Annotated[
        str | None,
        typer.Option(
            show_default="by the number of names", help="faiss factory string, such as HNSW32,SQ8."
        ),
    ] = None,
    pooling: Annotated[
        str | None, typer.Option(help="mean, mean_all or cls; by default what the encoder says.")
    ] = None,
    runtime: Annotated[
        str | None,
        typer.Option(
            show_default="that of --update, else torch",
            help="onnx: export the encoder, so that linking needs no torch and is "
            "faster on a processor. It must link as torch does.",
        ),
    ] = None,
    update: Annotated[
        Path | None,
        typer.Option(
            help="Assets built before: names that they have are not encoded again. Their encoder "
            "and kind of index are the default."
        ),
    ] = None,
    memory: Annotated[
        list[Path] | None,
        typer.Option(
            help="Gold mentions that are to be linked as they are there; may be given several "
            "times. Without it, what the assets of --update remember."
        ),
    ] = None,
    dev: Annotated[
        Path | None,
        typer.Option(
            help="Gold mentions, 50 or more, on which the weights of the tiers are chosen and "
            "probabilities are fitted."
        ),
    ] = None,
    device: Device = AUTO,
    overwrite: Overwrite = False,
) -> None:
    """Encode all names and build the tiers; in the end the assets replace those at --output."""
    from ..assets import build_assets
    from ..util.progress import show_progress

    kb = None if str(kb_path) == STARTER and not kb_path.exists() else kb_path
    if pooling is not None:
        one_of(pooling, POOLINGS, "--pooling")
    if runtime is not None:
        one_of(runtime, ("torch", "onnx"), "--runtime")
    _check_dense(
        encoder is None and update is None,
        index=index,
        pooling=pooling,
        runtime=runtime,
    )
    if _helps_another(output, kb, encoder, pooling, update, device):
        return
    began = time.perf_counter()
    if kb is None:
        from ..assets.starter import starter_assets

        kb = starter_assets().kb.path
    if encoder is not None or _has_encoder(update):  # nothing else needs torch
        from ..util.devices import rank_device

        device = rank_device(device)
    assets = build_assets(
        output,
        kb,
        encoder,
        index=index,
        pooling=pooling,
        runtime=runtime,
        update=update,
        memory=memory or (),
        dev=dev,
        device=device,
        progress=show_progress,
        overwrite=overwrite,
    )
    typer.echo(_summary(assets, time.perf_counter() - began))
    if "dense" not in assets.tiers:
        typer.echo("No --encoder was given: there is no dense tier.", err=True)


def _has_encoder(update: Path | None) -> bool:
    from ..assets import Assets

    return update is not None and Assets(update).manifest["encoder"] is not None


def _helps_another(
    out: Path,
    kb: Path | None,
    encoder: str | None,
    pooling: str | None,
    update: Path | None,
    device: str,
) -> bool:
    """Encode a share of the names, if torchrun started this process beside the first one.

    An update encodes little, and the starter nothing, so the first process then works alone.
    """
    from ..assets.shares import Share, encode_share

    if Share.of_process().is_first:
        return False
    if kb is not None and encoder is not None and update is None:
        from ..util.devices import rank_device

        encode_share(out, kb, encoder, pooling, rank_device(device))
    return True


def _check_dense(is_missing: bool, **settings: object) -> None:
    """Refuse settings of the dense tier where there will be no dense tier."""
    for name in (name for name, value in settings.items() if value is not None and is_missing):
        hint = f"--{name.replace('_', '-')}"
        raise typer.BadParameter("has no effect without --encoder or --update.", param_hint=hint)


def _summary(assets: "Assets", seconds: float) -> str:
    manifest = assets.manifest
    rows = [
        (
            tier,
            f"weight {assets.weights.get(tier, 0):.3f}",
            f"{assets.size_of([tier]) / 1e6:,.1f} MB",
        )
        for tier in assets.tiers
    ]
    return "\n".join(
        [
            *_reused(manifest["update"]),
            f"{assets.path}: {manifest['kb']['concepts']:,} concepts, "
            f"{manifest['kb']['names']:,} names",
            table(rows),
            *_encoded(manifest["encoder"]),
            *_index(manifest["index"]),
            *(memory_report(manifest["memory"]) if manifest["memory"] is not None else ()),
            f"fusion weights: {_how_chosen(manifest['fusion']['chosen_on'])}",
            *_calibrated(manifest.get("calibrator")),
            *gate_report(manifest.get("gate")),
            f"{manifest['kb']['names']:,} names of {manifest['kb']['concepts']:,} concepts, "
            f"{assets.size / 1e6:,.1f} MB in all, built in {seconds:,.1f} s",
        ]
    )


def _encoded(encoder: Data | None) -> list[str]:
    """Report the device that made the vectors, and how."""
    if encoder is None:
        return []
    made = f"encoder {encoder['source']}, on {encoder['device']}, pooling {encoder['pooling']}"
    return [made, *_exported(encoder)]


def _exported(encoder: Data) -> list[str]:
    """Report the runtime of the encoder, and its differences from torch."""
    if (runtime := encoder.get("runtime")) is None:
        return []
    speeds = ", ".join(
        f"{precision} {speed:,}" for precision, speed in runtime["names_per_second"].items()
    )
    return [
        f"runtime {runtime['name']}, {runtime['precision']}: {runtime['changed']:.1%} of "
        f"{runtime['examples']:,} examples have another first candidate than with torch, least "
        f"cosine {runtime['least_cosine']:.4f}; names a second: {speeds}{_kept(runtime)}",
        *(
            f"  {precision} is left out: {problem}"
            for precision, problem in runtime["left_out"].items()
        ),
    ]


def _how_chosen(on: Data | None) -> str:
    """Report the data on which the fusion was chosen, and the score of each tier alone."""
    if on is None:
        return "the default"
    if "file" in on:
        chosen = f"{on['choice']}, chosen on {on['mentions']:,} mentions of {on['file']}"
    else:
        kinds = ", ".join(f"{count:,} {example}" for example, count in on["examples"].items())
        chosen = f"{on['choice']}, chosen on examples made of names ({kinds})"
    alone = ", ".join(f"{tier} alone {mrr:.3f}" for tier, mrr in on.get("mrr_alone", {}).items())
    return f"{chosen}: MRR {on['mrr']:.3f} ({alone})" if alone else chosen


def gate_report(gate: Facts | None) -> list[str]:
    """Report where the dense tier is not asked, and how often that changed an example.

    gate (Optional[Mapping]): "gate" of the manifest of assets.
    """
    if gate is None:
        return []
    passing = [
        f"{answer} ({counts['changed']} of {counts['examples']:,} examples change)"
        for answer, counts in gate["answers"].items()
        if counts["at_most"] <= gate["max_changed"]
    ]
    if not passing:
        return [f"gate: closed, every mention is encoded{_kept(gate)}"]
    return [f"gate: not encoded are mentions that are {', '.join(passing)}{_kept(gate)}"]


def _calibrated(calibrator: Data | None) -> list[str]:
    """Report the threshold, the probability from which mentions are linked."""
    if calibrator is None:
        return ["no calibrator: every mention is linked"]
    on = calibrator["fitted_on"].get("file", "examples made of names")
    threshold = f"threshold: links need a probability of {calibrator['threshold']:.3f}"
    return [
        f"{threshold}, fitted to {on}{_kept(calibrator)}",
        *links_report(calibrator.get("links")),
    ]


def links_report(links: Mapping[str, Mapping[str, int]] | None, of: str = "examples") -> list[str]:
    """Report what becomes of mentions at the threshold before and after a fit.

    links (Optional[Mapping]): "before" and "after", each with "right", "wrong" and "nil".
    of (str): what is counted.
    """
    if links is None:
        return []
    before, after = links["before"], links["after"]
    changes = (
        f"{name} {before[key]:,} to {after[key]:,}"
        for name, key in (("right", "right"), ("wrong", "wrong"), ("NIL", "nil"))
    )
    count = sum(after.values())
    return [f"links: {', '.join(changes)} of {count:,} {of}, before the fit and after"]


def _kept(fit: Facts) -> str:
    """Report that an update kept what was fitted; "" for what was fitted now."""
    changed = fit.get("changed_names")
    return "" if changed is None else f"; kept, {changed:,} names have changed since"


def _index(index: Data | None) -> list[str]:
    """Report the recall of an index that is not exhaustive."""
    if index is None or "recall" not in index:
        return []
    recall = index["recall"]
    return [
        f"index {index['spec']}: finds {100 * recall['recall@1']:.1f} % of the nearest names, "
        f"{100 * recall['recall@25']:.1f} % of the 25 nearest{_kept(index)}"
    ]


def _reused(update: Data | None) -> list[str]:
    """Report the parts of the earlier assets that an update used."""
    if update is None:
        return []
    if update["why_not"]:
        return [f"{update['name']}: nothing could be reused, since {update['why_not']}"]
    counts = f"{update['reused']:,} names reused, {update['encoded']:,} encoded"
    return [f"{update['name']}: {counts}, {update['dropped']:,} strings are gone"]
