"""Fits the weights of what neighbours say of a match: `python -m benchmarks.neighbours ASSETS`.

Asked are the rows of `components/finding/neighbours.tsv`. A match that is gold of the development
corpora is a mention; one beside which a case of `benchmarks/reading` says "no link" is none. The
weights are those of a logistic regression whose prior is the weight in the table, so that a row
which nothing speaks against stays as it is. Prints the rows whose weight changes its sign, and how
many answers are right before and after.
"""

import gzip
import json
from collections.abc import Iterator
from typing import Annotated

import numpy as np
import spacy
import typer
from numpy.typing import NDArray

from benchmarks.measured import DATA
from benchmarks.reading.cases import read_cases
from spacy_medlink.components.finding import neighbours
from spacy_medlink.components.finding.neighbours import BIAS, Neighbours, Row, rows_of

_PRIOR, _STEPS, _RATE = 0.05, 2000, 0.2
_CORPORA = ("gsc_plus", "gsc_2024", "ncbi_disease")
_ASKED = ("name", "short", "phrase")
Asked = dict[tuple[str, int, int], list[int]]  # question and characters, and which rows fit


def watched(asked: Asked) -> None:
    """Note each question that is asked, and the rows that fit."""
    score = Neighbours.score

    def noted(words: Neighbours, question: str, start: int, end: int, extra: str = "") -> float:
        around, rows = words.around(start, end, extra), rows_of(question)
        place = words.pieces.starts[start], words.pieces.ends[end - 1]
        asked[question, *place] = [n for n, row in enumerate(rows) if row.fits.search(around)]
        return score(words, question, start, end, extra)

    # A watched method in place of the real one.
    neighbours.Neighbours.score = noted  # type: ignore[method-assign,assignment]


def texts() -> Iterator[tuple[str, dict[tuple[int, int], bool]]]:
    """Give texts with places, and whether each is a mention."""
    for corpus in _CORPORA:
        with gzip.open(DATA / f"{corpus}.dev.jsonl.gz", "rt", encoding="utf-8") as lines:
            for document in map(json.loads, lines):
                yield document["text"], {(m["start"], m["end"]): True for m in document["mentions"]}
    for part, case in read_cases("en"):
        if part == "dev" and not case.given:
            yield case.text, {(p.start, p.end): not p.traps for p in case.places}


def fitted(rows: list[Row], fits: list[list[int]], is_none: NDArray[np.float64]) -> None:
    """Fit the weights of the rows of a question, and print those that change their sign."""
    prior = np.array([row.weight for row in rows])
    given = np.zeros((len(fits), len(rows)))
    for number, own in enumerate(fits):
        given[number, own] = 1
    weights = prior.copy()
    for _ in range(_STEPS):
        probability = 1 / (1 + np.exp(-np.clip(BIAS + given @ weights, -30, 30)))
        slope = given.T @ (probability - is_none) + _PRIOR * (weights - prior)
        weights -= _RATE / np.sqrt(len(fits)) * slope
    for name, tried in (("table", prior), ("fitted", weights)):
        right = int((((BIAS + given @ tried) > 0) == (is_none > 0)).sum())
        typer.echo(f"  {name}: {right} of {len(fits)} right, {is_none.sum():.0f} are no mentions")
    for row, weight, count in zip(rows, weights, given.sum(axis=0), strict=True):
        if count:
            typer.echo(f"  {row.weight:6.1f} -> {weight:6.1f}, fits {count:.0f}: {row.example}")


def main(assets: Annotated[list[str], typer.Argument(help="Directories of assets.")]) -> None:
    """Fit the weights to development data."""
    asked, answers = Asked(), dict[str, list[tuple[list[int], bool]]]()
    watched(asked)
    for path in assets:
        nlp = spacy.blank("en")
        nlp.add_pipe("medical_mentions", config={"assets": path})
        for text, places in texts():
            asked.clear()
            nlp(text)
            for (question, start, end), fits in asked.items():
                if (start, end) in places and question in _ASKED:
                    answers.setdefault(question, []).append((fits, not places[start, end]))
    for question, rows in answers.items():
        typer.echo(question)
        fitted(
            rows_of(question), [fits for fits, _ in rows], np.array([no for _, no in rows], float)
        )


if __name__ == "__main__":
    typer.run(main)
