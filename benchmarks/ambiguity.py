"""Rules that choose between concepts that share a name.

`python -m benchmarks.ambiguity KB GOLD...` counts the mentions that equal a name of several
concepts, of which one is right. It also counts how many of them each rule links rightly, after the
rule that a preferred name comes before a synonym.
"""

from collections import Counter, defaultdict
from pathlib import Path
from typing import Annotated

import typer

from spacy_medlink.evaluation import load_gold
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.text.normalisation import key

_RULES = ("the first id", "the most names, then the first id")


def measure(kb: KnowledgeBase, gold: Path) -> dict[str, int]:
    """Count ambiguous mentions, and the right links by each rule."""
    sharing: defaultdict[str, dict[int, bool]] = defaultdict(dict)
    order: list[tuple[str, int]] = []
    for row, concept in enumerate(kb):
        order.append((concept.id, len(concept.names)))
        for name in concept.names:
            own = sharing[key(name.text)]
            own[row] = own.get(row, False) or name.text == concept.name
    found = Counter[str]({"ambiguous": 0})
    for case in load_gold(gold, kb).cases():
        rows = sharing.get(key(case.mention.text), {})
        if len(rows) > 1 and not case.right.isdisjoint(rows):
            found["ambiguous"] += 1
            first = min(rows, key=lambda row: (not rows[row], order[row][0]))
            most = min(rows, key=lambda row: (not rows[row], -order[row][1], order[row][0]))
            for rule, row in zip(_RULES, (first, most), strict=True):
                found[rule] += row in case.right
    return dict(found)


def main(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="A knowledge base.")],
    gold: Annotated[list[Path], typer.Argument(metavar="GOLD", help="Gold mentions.")],
) -> None:
    """Compare rules for names of several concepts."""
    base = KnowledgeBase(kb)
    for file in gold:
        typer.echo(f"{file.name}: {measure(base, file)}")


if __name__ == "__main__":
    typer.run(main)
