"""Training by a recipe: what `training.train` does once its options are read."""

import json
from pathlib import Path
from typing import Any

import torch

from spacy_medlink.assets.manifest import ENCODER as IN_ASSETS
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.util.devices import AUTO, CPU, find_device, rank_device
from spacy_medlink.util.files import replacing_directory
from spacy_medlink.util.outputs import DirectoryKind, check_output

from .data.mentions import why_nothing
from .kinds.distilling import Distillation
from .kinds.encoder_training import EncoderTraining, Inputs, Say, silent
from .kinds.finetuning import Finetuning
from .kinds.pretraining import Pretraining
from .loop.ranks import Ranks, all_ranks
from .recipe.settings import Recipe
from .reranking.rerank import rerank

FIGURES = "metrics.json"
ENCODER = DirectoryKind("a trained encoder")


def train(
    recipe: Recipe,
    inputs: Inputs,
    *,
    resume: bool = False,
    device: str = AUTO,
    say: Say = silent,
    overwrite: bool = False,
    if_any: bool = False,
) -> dict[str, Any]:
    """Train by a recipe, and write an encoder with its figures (or for "rerank" assets).

    overwrite (bool): replace the output even if it holds more than was trained. if_any (bool): if
        a gold file has no usable mention, hand on the base and say so.
    Started by torchrun on several devices, each call trains a share, and the first one writes.

    RETURNS (Dict[str, Any]): what metrics.json holds, for "rerank" what the manifest says of it;
        nothing but on the first rank.
    RAISES (MedlinkError): E1xx and E2xx for a bad knowledge base, base or assets, E4xx for a gold
        file, E5xx. (StoppedError): after Ctrl-C, when everything is saved in `run`.
    """
    if recipe.recipe.kind == "rerank":
        made = rerank(
            recipe,
            inputs,
            resume=resume,
            device=device,
            say=say,
            overwrite=overwrite,
            if_any=if_any,
        )
        return made.manifest["reranker"] or {"left_out": made.manifest["left_out"]["reranker"]}
    check_output(inputs.output, ENCODER, inputs.given(), overwrite=overwrite)
    assert inputs.kb is not None
    kb = KnowledgeBase(inputs.kb)
    if if_any and (why := why_nothing(kb, inputs.train, inputs.dev)):
        say(f"Training is left out: {why}.")
        with replacing_directory(
            inputs.output, ENCODER, inputs.given(), overwrite=overwrite
        ) as path:
            BiEncoder.load(inputs.base).save(path)
            return _write_figures(path, {"left_out": why})
    torch_device = find_device(rank_device(device))
    with all_ranks(torch_device) as ranks:
        told = say if ranks.is_first else silent
        training = _make(recipe, kb, inputs, torch_device, told, ranks)
        result = training.run(inputs.place, resume)
    if result is None:
        return {}
    result.encoder.move(CPU)
    with replacing_directory(inputs.output, ENCODER, inputs.given(), overwrite=overwrite) as path:
        result.encoder.save(path)
        training.store(path)
        return _write_figures(path, result.figures)


def _make(
    recipe: Recipe,
    kb: KnowledgeBase,
    inputs: Inputs,
    device: torch.device,
    say: Say,
    ranks: Ranks,
) -> EncoderTraining:
    base = Path(inputs.base)
    if recipe.recipe.kind == "distil":
        inside = base / IN_ASSETS
        source = inside if inside.is_dir() else base
        teacher = BiEncoder.load(str(source) if source.exists() else inputs.base)
        return Distillation(recipe, kb, teacher, device, say, ranks, [source])
    encoder = BiEncoder.load(inputs.base)
    if recipe.recipe.kind == "finetune":
        assert inputs.train is not None and inputs.dev is not None
        return Finetuning(recipe, kb, encoder, inputs.train, inputs.dev, device, say, ranks)
    return Pretraining(recipe, kb, encoder, device, say, ranks, inputs.text, [base])


def _write_figures(directory: Path, figures: dict[str, Any]) -> dict[str, Any]:
    (directory / FIGURES).write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    return figures
