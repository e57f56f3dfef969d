"""Saving the result of a training: encoder, figures and log, all at once or nothing."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.util.files import replacing_directory
from spacy_medlink.util.outputs import DirectoryKind, PathLike

from .loop.trainer import METRICS
from .study import Result

FIGURES = "metrics.json"
ENCODER = DirectoryKind("a trained encoder")


def _nothing_more(path: Path) -> None:
    pass


def save_result(
    result: Result,
    output: Path,
    run: Path,
    also: Callable[[Path], None] = _nothing_more,
    inputs: Iterable[PathLike | None] = (),
    overwrite: bool = False,
) -> None:
    """Replace a directory by the result of a training.

    run (Path): directory of the training, for its log.
    also (Callable): writes what else belongs into the directory. inputs, overwrite: what may be
        replaced; see `outputs.check_output`.
    RAISES (MedlinkError): E109 when it cannot be written, E120-E123 for what is there.
    """
    with replacing_directory(output, ENCODER, inputs, overwrite=overwrite) as path:
        result.encoder.save(path)
        also(path)
        (path / FIGURES).write_text(json.dumps(result.figures, indent=2) + "\n", "utf-8")
        (path / METRICS).write_bytes((run / METRICS).read_bytes())


def leave_out_training(
    base: str,
    output: Path,
    why: str,
    inputs: Iterable[PathLike | None] = (),
    overwrite: bool = False,
) -> dict[str, Any]:
    """Put the untrained encoder in the place of the trained one.

    RETURNS (Dict[str, Any]): what metrics.json holds: why nothing was trained.
    RAISES (MedlinkError): E2xx for the base, E109 when it cannot be written, E120-E123.
    """
    figures = {"left_out": why}
    with replacing_directory(output, ENCODER, inputs, overwrite=overwrite) as path:
        BiEncoder.load(base).save(path)
        (path / FIGURES).write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    return figures
