"""Measure what vectors know besides linking; every answer is JSON, on the screen or in `--output`.

python -m training.represent similarity pairs.csv --encoder DIR
python -m training.represent relations triplets.tsv --encoder DIR [--kb KB] [--tune]
python -m training.represent mcsm KB --encoder DIR [--type T047]
python -m training.represent picture KB names.png --encoder BASE --encoder TRAINED
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.util.devices import AUTO, find_device
from spacy_medlink.util.files import replacing_file, save_text
from spacy_medlink.util.outputs import check_output, marked

from .corpora.tally import Tally
from .representations.mcsm import NEIGHBOURS, mcsm, read_typed
from .representations.picture import METHODS, PICTURE, TSNE, choose_names, draw, place, separation
from .representations.relations import HeadSettings, classify
from .representations.similarity import read_pairs, similarity
from .representations.triplets import divide, read_triplets
from .representations.vectors import encode_terms
from .verbs import Device, Overwrite, run

Encoder = Annotated[Path, typer.Option(help="Directory of an encoder.")]
Pooling = Annotated[str, typer.Option(help="mean, mean_all or cls; default: as the encoder says.")]
Output = Annotated[Path | None, typer.Option(help="Write the figures here, JSON.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first row that is bad.")]

_FORMAT = "spacy-medlink figures of an encoder"
_FIGURES = marked("figures of an encoder", f'"format": "{_FORMAT}"')


def similarity_verb(
    pairs: Annotated[
        Path, typer.Argument(help="Table with the columns term1, term2, mean; as of MayoSRS.")
    ],
    encoder: Encoder,
    device: Device = AUTO,
    pooling: Pooling = "",
    strict: Strict = False,
    output: Output = None,
    overwrite: Overwrite = False,
) -> None:
    """Correlate the cosines of pairs of terms with how alike people find them (Spearman)."""
    inputs: list[Path | None] = [pairs, encoder]
    _check(output, inputs, overwrite)
    tally = Tally(strict)
    rated = read_pairs(pairs, tally)
    found = similarity(_opened(encoder, pooling, device), rated)
    _report({"task": "similarity", **found}, encoder, tally, _Target(output, inputs, overwrite))


def relations_verb(
    triplets: Annotated[Path, typer.Argument(help="Table with the columns head, tail, relation.")],
    encoder: Encoder,
    kb: Annotated[
        Path | None, typer.Option(help="Heads and tails are ids of this knowledge base.")
    ] = None,
    test: Annotated[
        Path | None, typer.Option(help="Triplets to test on; default: a fifth, at random.")
    ] = None,
    tune: Annotated[bool, typer.Option("--tune", help="The encoder learns along.")] = False,
    epochs: Annotated[int, typer.Option(min=1, help="Over the triplets.")] = 50,
    batch: Annotated[int, typer.Option(min=1, help="Triplets.")] = 64,
    learning_rate: Annotated[float, typer.Option(help="Of the linear layer.")] = 1e-3,
    encoder_rate: Annotated[float, typer.Option(help="Of the encoder, with --tune.")] = 2e-5,
    seed: Annotated[int, typer.Option(help="Of the division, the order, the layer.")] = 0,
    device: Device = AUTO,
    pooling: Pooling = "",
    strict: Strict = False,
    output: Output = None,
    overwrite: Overwrite = False,
) -> None:
    """Classify what terms are to each other, by a linear layer over both vectors (CODER)."""
    inputs: list[Path | None] = [triplets, encoder, kb, test]
    _check(output, inputs, overwrite)
    tally = Tally(strict)
    knowledge = KnowledgeBase(kb) if kb is not None else None
    found = read_triplets(triplets, tally, knowledge)
    if test is None:
        train, held_out = divide(found, seed)
    else:
        train, held_out = found, read_triplets(test, tally, knowledge)
    model = _opened(encoder, pooling, device)
    settings = HeadSettings(tune, epochs, batch, learning_rate, encoder_rate, seed)
    results = classify(model, train, held_out, settings)
    _report({"task": "relations", **results}, encoder, tally, _Target(output, inputs, overwrite))


def mcsm_verb(
    kb: Annotated[Path, typer.Argument(help="Knowledge base whose concepts have types.")],
    encoder: Encoder,
    type: Annotated[
        list[str] | None, typer.Option(help="A type to measure, again for more; default: all.")
    ] = None,
    k: Annotated[int, typer.Option(min=1, help="Neighbours.")] = NEIGHBOURS,
    limit: Annotated[int, typer.Option(min=0, help="Concepts at most, drawn; 0: all.")] = 0,
    seed: Annotated[int, typer.Option(help="Of the draw.")] = 0,
    device: Device = AUTO,
    pooling: Pooling = "",
    output: Output = None,
    overwrite: Overwrite = False,
) -> None:
    """Measure whether concepts of a type lie beside each other (MCSM)."""
    inputs: list[Path | None] = [kb, encoder]
    _check(output, inputs, overwrite)
    typed = read_typed(KnowledgeBase(kb), limit, seed)
    vectors = encode_terms(_opened(encoder, pooling, device), typed.terms)
    results = mcsm(vectors, typed.types, type or (), k)
    _report({"task": "mcsm", **results}, encoder, Tally(), _Target(output, inputs, overwrite))


def picture_verb(
    kb: Annotated[Path, typer.Argument(help="Knowledge base to take names from.")],
    picture: Annotated[Path, typer.Argument(help="PNG file to write.")],
    encoder: Annotated[
        list[Path], typer.Option(help="Directory of an encoder; again for one beside it.")
    ],
    concepts: Annotated[int, typer.Option(min=1, help="How many, drawn.")] = 20,
    names: Annotated[int, typer.Option(min=1, help="Of each concept, at most.")] = 12,
    id: Annotated[list[str] | None, typer.Option(help="This concept; again for more.")] = None,
    method: Annotated[str, typer.Option(help="tsne or umap.")] = TSNE,
    seed: Annotated[int, typer.Option(help="Of the draw and of the places.")] = 0,
    device: Device = AUTO,
    pooling: Pooling = "",
    output: Output = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw names in the plane, coloured by concept (SAPBERT, figure 1)."""
    inputs: list[Path | None] = [kb, *encoder]
    check_output(picture, PICTURE, inputs, overwrite=overwrite)
    _check(output, inputs, overwrite)
    if method not in METHODS:
        raise typer.BadParameter(f"{method!r} is not tsne or umap.", param_hint="--method")
    drawn = choose_names(KnowledgeBase(kb), concepts, names, id or (), seed)
    panels, nearest = {}, {}
    for path in encoder:
        vectors = encode_terms(_opened(path, pooling, device), drawn.names)
        title = path.name if path.name not in panels else str(path)
        panels[title] = place(vectors, method, seed)
        nearest[title] = separation(vectors, drawn.concepts)
    with replacing_file(picture, PICTURE, inputs, overwrite=overwrite) as file:
        draw(file, panels, drawn.concepts)
    found = {
        "task": "picture", "method": method, "names": len(drawn.names),
        "concepts": len(set(drawn.concepts)), "nearest_is_synonym": nearest,
    }  # fmt: skip
    _report(found, encoder[0], Tally(), _Target(output, inputs, overwrite))


def _opened(encoder: Path, pooling: str, device: str) -> BiEncoder:
    return BiEncoder.load(encoder, pooling or None, device=find_device(device))


class _Target(NamedTuple):
    """Where figures go, what they were made of, and whether another file may be replaced."""

    output: Path | None
    inputs: list[Path | None]
    overwrite: bool


def _check(output: Path | None, inputs: list[Path | None], overwrite: bool) -> None:
    """Find out before the work whether the figures may be written."""
    if output is not None:
        check_output(output, _FIGURES, inputs, overwrite=overwrite)


def _report(found: dict[str, Any], encoder: Path, tally: Tally, target: _Target) -> None:
    for what, count in (tally.dropped + tally.faults).items():
        typer.echo(f"{count:,} left out: {what}", err=True)
    left_out = dict(tally.dropped + tally.faults)
    figures = {"format": _FORMAT, "encoder": encoder.name, **found, "left_out": left_out}
    text = json.dumps(figures, indent=2)
    output, inputs, overwrite = target
    if output is not None:
        save_text(output, _FIGURES, text + "\n", inputs, overwrite=overwrite)
    typer.echo(text)


VERBS: dict[str, Callable[..., None]] = {
    "similarity": similarity_verb,
    "relations": relations_verb,
    "mcsm": mcsm_verb,
    "picture": picture_verb,
}

if __name__ == "__main__":
    run(**VERBS)
