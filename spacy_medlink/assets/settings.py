"""The settings of `medlink build` and `medlink learn`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from ..encoders.preparation import POOLINGS
from ..util.setting_types import Listed, Options, flag, one_of, option, setting

TORCH = "torch"


class BuildSettings(Options):
    """What assets are built from, beside the knowledge base."""

    encoder: Annotated[str | None, AfterValidator(lambda name: name or None)] = option(
        None,
        "Directory of a Hugging Face model, or the name of one to download from the Hub. Without "
        "an encoder, only the exact and n-gram tiers are built.",
    )
    index: str | None = option(
        None,
        "faiss factory string, such as HNSW32,SQ8.",
        show_default="by the number of names",
    )
    pooling: Annotated[str, one_of(lambda: POOLINGS)] | None = option(
        None, "mean, mean_all, cls or pooler; by default as the encoder's files say."
    )
    runtime: Annotated[str, one_of(lambda: (TORCH, "onnx"))] | None = option(
        None,
        "onnx exports the encoder: linking then needs no torch and is faster on a CPU. The build "
        "checks that the links are those of torch.",
        show_default="that of --update, else torch",
    )
    update: Path | None = option(
        None,
        "Earlier assets. Their names are not encoded again; their encoder and kind of index are "
        "the defaults.",
    )
    memory: Annotated[list[Path], Listed] = option(
        [],
        "Gold mentions to remember: equal mentions are linked in the same way. May be given "
        "several times. By default, what the assets of --update remember.",
    )
    dev: Path | None = option(
        None,
        "At least 50 gold mentions, to fit the probabilities.",
    )
    calibrate: bool = flag(True, "fit a calibrator and a threshold to names")
    resume: bool = flag(True, "keep vectors beside the output, so that a build can continue")
    vectors: Annotated[list[Path], Listed] = setting(
        [],
        "must be a list of directories",
        "trained encoders, beside which vectors of this encoder may lie",
    )
    weights: Mapping[str, float] | None = setting(
        None,
        "must be weights by tier, or null",
        "of the tiers in the fused score, for a protocol that states them, and no ranker is fitted",
    )


class LearnSettings(Options):
    """How assets are fitted to annotated text."""

    new_concepts: bool = option(
        False, "Add a concept for each id that the terminology does not have."
    )
    top: int = option(
        10,
        "Number of candidates that the ranker orders. More help if you use candidates far down "
        "the list.",
        least=2,
    )
    target_precision: float = option(
        0.95, "Precision that the links should reach.", least=0, most=1
    )
