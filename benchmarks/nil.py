"""Precision and coverage of links at default settings: `python -m benchmarks.nil NAME=ASSETS ...`.

Each ASSETS links with its recommended threshold. The mentions are the development mentions of the
NCBI disease corpus, of BC5CDR (diseases; `--corpus bc5cdr`), both over MEDIC, or of GSC+ (`--corpus
gsc_plus`, over the HPO), in the data directory (MEDLINK_DATA). Five times, a random fifth of their
concepts is removed from the knowledge base. Figures go to OUTPUT as
JSON, and to a Markdown table beside it.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

from benchmarks.diseases import CORPORA, diseases
from benchmarks.measured import machine, write_results
from spacy_medlink.assets import Assets
from spacy_medlink.evaluation.calibration import calibration_error
from spacy_medlink.fitting.examples import DEPTH, NIL_SHARE, Example, gold_examples, without
from spacy_medlink.linking import Linker
from spacy_medlink.linking.decision import Decision, decide, wanted_of
from spacy_medlink.types import FROM_MENTIONS, Encoder, Floats1d, Floats2d

_DRAWS = 5
_DIGITS = 3
_MEASURES = ("precision", "coverage", "lost", "verbatim", "ece", "acc@1", "nil")
_CORPORA = {**CORPORA, "gsc_plus": "GSC+"}


class Draw(NamedTuple):
    """Examples after some concepts were removed.

    right (List[FrozenSet[int]]): rows of the right concepts that are left.
    named (List[bool]): whether the text is a name of only one concept that is left, the right one.
    """

    decisions: list[Decision]
    right: list[frozenset[int]]
    named: list[bool]


def measure(assets: Assets, gold: Path, draws: int = _DRAWS) -> dict[str, Any]:
    """Measure what assets link by default.

    RETURNS (Dict): `threshold`; by measure its mean, least and most over the draws: `precision` of
        links, `coverage` (links, right or wrong, of the mentions whose concept is left), `lost`
        (NIL, though the mention is an unambiguous name) of the `verbatim` mentions, `ece`
        (calibration error), `acc@1` (without a threshold), `nil` (share without a right concept).
    """
    examples = gold_examples(gold, assets.kb)
    counts = np.asarray([one.count for one in examples], dtype=np.float64)
    engine = assets.engine()
    if engine.parts.encoder is not None:
        engine = engine.with_parts(encoder=_Remembering(engine.parts.encoder))
    tests = [_figures(_draw(assets, engine, examples, draw), counts) for draw in range(draws)]
    return {
        "mentions": int(counts.sum()),
        "threshold": round(wanted_of(None, engine.calibrator), _DIGITS),
        "figures": _summary(tests),
    }


class _Remembering:
    """An encoder that remembers its vectors, since all draws have the same texts.

    encoder (Encoder): encodes new texts.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder, self.dim = encoder, encoder.dim
        self._known: dict[str, Floats1d] = {}

    def encode(self, texts: Sequence[str]) -> Floats2d:
        """Encode texts: (n, dim)."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._encoder.encode(new), strict=True))
        return np.stack([self._known[text] for text in texts])


def _draw(assets: Assets, engine: Linker, examples: Sequence[Example], draw: int) -> Draw:
    """Remove a fifth of the right concepts, and link."""
    concepts = sorted({row for one in examples for row in one.right})
    gone = np.random.default_rng(draw).permutation(concepts)[: round(NIL_SHARE * len(concepts))]
    removed = np.zeros(int(engine.name_concept.max()) + 1, dtype=np.bool_)
    removed[gone] = True
    rankings = engine.rank([one.mention for one in examples], DEPTH, without(engine, removed))
    right = [frozenset(row for row in one.right if not removed[row]) for one in examples]
    named = [
        _is_named(assets, engine, one.mention.long_form or one.mention.text, own, removed)
        for one, own in zip(examples, right, strict=True)
    ]
    return Draw(decide(rankings, None, calibrator=engine.calibrator), right, named)


def _is_named(
    assets: Assets,
    engine: Linker,
    text: str,
    right: frozenset[int],
    removed: NDArray[np.bool_],
) -> bool:
    """Tell whether a text is a name of exactly one concept, and this concept is right.

    Names from annotated mentions do not count: they are not in the terminology.
    """
    rows = assets.exact.search([text]).rows[0]
    concepts = {
        int(engine.name_concept[row])
        for row in rows[rows >= 0].tolist()
        if assets.kb.name_at(row).source != FROM_MENTIONS
    }
    left = {row for row in concepts if not removed[row]}
    return len(left) == 1 and left <= right


def _figures(draw: Draw, counts: NDArray[np.float64]) -> dict[str, float]:
    linked = np.asarray([one.chosen is not None for one in draw.decisions])
    known = np.asarray([bool(own) for own in draw.right])
    named = np.asarray(draw.named)
    first = np.asarray([
        bool(one.ranking) and one.ranking[0].row in own
        for one, own in zip(draw.decisions, draw.right, strict=True)
    ])  # fmt: skip
    probs = np.asarray([(one.ranking[0].prob if one.ranking else 0.0) for one in draw.decisions])
    calibrated = all(value is not None for value in probs.tolist())
    return {
        "precision": _share(first, counts * linked),
        "coverage": _share(linked, counts * known),
        "lost": float(counts[named & ~linked].sum()),
        "verbatim": float(counts[named].sum()),
        "ece": calibration_error(probs.astype(np.float64), first, counts)
        if calibrated
        else float("nan"),
        "acc@1": _share(first, counts * known),
        "nil": _share(~known, counts),
    }


def _share(flags: NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    return float(np.average(flags, weights=weights)) if weights.any() else 1.0


def _summary(tests: list[dict[str, float]]) -> dict[str, dict[str, float | None]]:
    columns = {name: [one[name] for one in tests] for name in _MEASURES}
    return {
        name: {
            how: None if np.isnan(values).any() else round(float(of(values)), _DIGITS)
            for how, of in (("mean", np.mean), ("least", min), ("most", max))
        }
        for name, values in columns.items()
    }


def table(results: dict[str, Any]) -> str:
    """Write results as Markdown."""
    lines = [
        "| assets | threshold | precision | coverage | lost | verbatim | ECE |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, own in results["assets"].items():
        figures = own["figures"]
        cells = [_cell(figures[one]) for one in ("precision", "coverage", "lost")]
        lines.append(
            f"| {name} | {own['threshold']:.3f} | {' | '.join(cells)} | "
            f"{figures['verbatim']['mean']:.0f} | {_mean(figures['ece'])} |"
        )
    some = next(iter(results["assets"].values()))
    return "\n".join(
        [
            *lines,
            "",
            f"{some['mentions']:,} development mentions of {_CORPORA[results['corpus']]}; a fifth "
            f"of their concepts removed ({100 * some['figures']['nil']['mean']:.0f} % of the "
            f"mentions are NIL), {_DRAWS} draws: mean (least to most). The threshold is that which "
            "the assets recommend; 0 links everything. Precision: right links of all links. "
            "Coverage: links, right or wrong, of the mentions whose concept is left. Lost: those "
            "that are verbatim a name of the right concept and of no other, and are NIL; verbatim: "
            "how many of these there are. ECE: expected calibration error.",
        ]
    )


def _cell(figure: dict[str, float]) -> str:
    return f"{figure['mean']:.3f} ({figure['least']:.3f} to {figure['most']:.3f})"


def _mean(figure: dict[str, float | None]) -> str:
    return "" if figure["mean"] is None else f"{figure['mean']:.3f}"


def main(
    assets: Annotated[list[str], typer.Argument(help="NAME=ASSETS, one or more.")],
    corpus: Annotated[str, typer.Option(help="ncbi_disease, bc5cdr or gsc_plus.")] = "ncbi_disease",
    output: Annotated[Path, typer.Option(help="Where the figures go, JSON.")] = Path(
        "benchmarks/results/nil.json"
    ),
) -> None:
    """Measure what assets link by default, with a fifth of the concepts removed."""
    named = dict(one.split("=", 1) for one in assets)
    with TemporaryDirectory() as place:
        dev = diseases(corpus, "dev", Path(place))
        found = {name: measure(Assets(path), dev) for name, path in named.items()}
    results = {"corpus": corpus, "assets": found, "machine": machine()}
    write_results(output, results, table(results))


if __name__ == "__main__":
    typer.run(main)
