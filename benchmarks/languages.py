"""Names in other languages to English names: `python -m benchmarks.languages KB ENCODER...`.

Concepts are drawn evenly by language, and are the same ones for all encoders and in each run over a
knowledge base. The first name of each concept in each language is looked for, by cosine, among all
English names of these concepts; P@1 counts names of the right concept. `--without KB` writes the
knowledge base without these concepts, to train on.
"""

import random
from collections import defaultdict
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from benchmarks.measured import RESULTS, report
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase, build_kb

Names = list[tuple[int, str]]
_OF_A_LANGUAGE, _CONCEPTS = 300, 650
_ENGLISH = "en"


def draw(kb: KnowledgeBase) -> list[int]:
    """Draw concepts with an English name and another one, as many of each language."""
    by_language: dict[str, list[int]] = defaultdict(list)
    for concept in kb:
        languages = {name.lang for name in concept.names}
        for language in sorted(languages - {_ENGLISH}) if _ENGLISH in languages else ():
            by_language[language].append(concept.row)
    generator = random.Random(0)
    drawn: set[int] = set()
    for _, rows in sorted(by_language.items()):
        drawn.update(generator.sample(rows, min(_OF_A_LANGUAGE, len(rows))))
    return random.Random(1).sample(sorted(drawn), min(_CONCEPTS, len(drawn)))


def names_of(kb: KnowledgeBase, rows: list[int]) -> tuple[Names, dict[str, Names]]:
    """List all English names of concepts, and their first name in each other language."""
    english, others = Names(), dict[str, Names]()
    for row in rows:
        first: dict[str, str] = {}
        for name in kb.concept_at(row).names:
            if name.lang == _ENGLISH:
                english.append((row, name.text))
            else:
                first.setdefault(name.lang, name.text)
        for language, text in first.items():
            others.setdefault(language, []).append((row, text))
    return english, others


def measure(encoder: BiEncoder, english: Names, others: dict[str, Names]) -> dict[str, float]:
    """Measure P@1 in per cent, by language and on average."""
    targets = encoder.encode([text for _, text in english])
    concepts = np.array([row for row, _ in english])
    figures = {}
    for language, names in sorted(others.items()):
        nearest = (encoder.encode([text for _, text in names]) @ targets.T).argmax(axis=1)
        right = concepts[nearest] == np.array([row for row, _ in names])
        figures[language] = 100 * float(right.mean())
    return {"mean": float(np.mean(list(figures.values()))), **figures}


def main(
    kb: Annotated[Path, typer.Argument(help="With names in several languages.")],
    encoders: Annotated[list[str], typer.Argument(metavar="ENCODER...")],
    without: Annotated[Path | None, typer.Option(help="Write the KB without the concepts.")] = None,
    output: Annotated[Path, typer.Option(help="JSON; a table beside it.")] = RESULTS
    / "languages.json",
) -> None:
    """Measure encoders on names in other languages."""
    knowledge = KnowledgeBase(kb)
    rows = draw(knowledge)
    if without is not None:
        held = set(rows)
        build_kb(without, (concept for concept in knowledge if concept.row not in held))
    english, others = names_of(knowledge, rows)
    table = [
        {"encoder": Path(source).name, **measure(BiEncoder.load(source), english, others)}
        for source in encoders
    ]
    count = sum(map(len, others.values()))
    report(output, table, f"P@1 of {count:,} names among {len(english):,} English ones.")


if __name__ == "__main__":
    typer.run(main)
