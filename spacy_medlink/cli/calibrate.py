"""`medlink calibrate`: probabilities for links, and the threshold that gives a precision."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import Warnings
from .opening import AUTO, Device, Improved, Verify, verify_assets
from .output import Overwrite, table

if TYPE_CHECKING:
    from ..fitting.calibrate import Calibrated

_THRESHOLDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
_HEADER = ("threshold", "precision %", "+/-", "coverage %", "linked %", "")


def command(
    assets: Annotated[
        Path, typer.Argument(metavar="ASSETS", help="The directory of assets to calibrate.")
    ],
    dev: Annotated[
        Path | None,
        typer.Option(
            help="Gold mentions to calibrate on, which nothing else learned from. Without it, "
            "names of the knowledge base."
        ),
    ] = None,
    train: Annotated[
        Path | None,
        typer.Option(
            help="Gold mentions that memory, names and ranker learned from, too, but not the "
            "encoder: each fifth of the documents is asked as if it had not been annotated."
        ),
    ] = None,
    target_precision: Annotated[
        float, typer.Option(min=0, max=1, help="Precision that links are to have.")
    ] = 0.95,
    nil_share: Annotated[
        float,
        typer.Option(
            min=0, max=0.5, help="Share of the concepts whose mentions are asked without them."
        ),
    ] = 0.2,
    output: Improved = None,
    diagram: Annotated[
        Path | None,
        typer.Option(help="Reliability diagram, PNG. [default: OUTPUT.reliability.png]"),
    ] = None,
    overwrite: Overwrite = False,
    device: Device = AUTO,
    verify: Verify = False,
) -> None:
    """Fit probabilities of links, choose the threshold for a precision, and store both."""
    from ..assets import Assets
    from ..evaluation.calibration import DIAGRAM
    from ..fitting.calibrate import calibrate_assets
    from ..util.outputs import check_output
    from ..util.progress import show_progress

    if verify:
        verify_assets(assets)
    out, inputs = output or assets, [dev, train]
    picture = diagram or out.resolve().with_name(f"{out.resolve().name}.reliability.png")
    check_output(picture, DIAGRAM, inputs, overwrite=overwrite)
    calibrated = calibrate_assets(
        Assets(assets, device=device),
        out,
        dev,
        train=train,
        target_precision=target_precision,
        nil_share=nil_share,
        progress=show_progress,
        overwrite=overwrite,
    )
    _draw(calibrated, picture, inputs, overwrite)
    typer.echo(_report(calibrated))


def _draw(calibrated: "Calibrated", path: Path, inputs: list[Path | None], overwrite: bool) -> None:
    """Draw the reliability diagram; warn where that needs a package that is not installed."""
    from ..evaluation.calibration import (
        DIAGRAM,
        calibration_error,
        draw_reliability,
        reliability_bins,
    )
    from ..util.files import replacing_file

    examples, probs = calibrated.fitted.examples, calibrated.fitted.probs
    bins = reliability_bins(probs, examples.right, examples.weights)
    error = calibration_error(probs, examples.right, examples.weights)
    try:
        with replacing_file(path, DIAGRAM, inputs, overwrite=overwrite) as temporary:
            draw_reliability(temporary, bins, error)
    except ImportError:
        warnings.warn(Warnings.no_diagram.format(path=path), stacklevel=2)


def _report(calibrated: "Calibrated") -> str:
    from ..fitting.calibrator import at_threshold

    facts, chosen = calibrated.facts, calibrated.chosen
    wanted = sorted({*_THRESHOLDS, chosen.threshold})
    found = [point for one in wanted if (point := at_threshold(calibrated.curve, one))]
    rows = [
        (
            f"{one.threshold:.3f}", 100 * one.precision, 100 * one.error, 100 * one.coverage,
            100 * one.of_all, "chosen" if one.threshold == chosen.threshold else "",
        )
        for one in found
    ]  # fmt: skip
    on = facts["fitted_on"].get("file", "names of the knowledge base")
    return "\n".join(
        [
            table(rows, _HEADER),
            f"{facts['mentions']:,} mentions of {facts['concepts']:,} concepts ({on}), "
            f"{100 * facts['nil_share']:.0f} % of the concepts removed; cross-validated",
            f"{facts['kind']}, expected calibration error {facts['calibration_error']:.3f}",
            f"{calibrated.assets.path}: threshold {chosen.threshold:.4f}",
        ]
    )
