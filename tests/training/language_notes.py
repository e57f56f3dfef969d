"""What a pipeline links in one invented note of each language.

`python -m tests.training.language_notes NAME`

NAME is an installed package, or the directory of a pipeline. The notes of `language_notes.tsv` say
the same. Each has six mentions; the header has the ids of their concepts.
"""

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import spacy
from spacy.language import Language

NOTES = Path(__file__).with_suffix(".tsv")


class Found(NamedTuple):
    """Mentions with and without their concept, and the other spans, each with what it is linked to.

    A mention has its concept if that is the link of its span, or of one with words around it.
    """

    language: str
    right: list[str]
    missed: list[str]
    others: dict[str, str]


def notes() -> tuple[list[str], list[list[str]]]:
    """Read the notes. RETURNS: ids of the six concepts; each note's language, text, mentions."""
    with NOTES.open(encoding="utf-8", newline="") as file:
        (_, _, *ids), *rows = csv.reader(file, delimiter="\t")
    return ids, rows


def link(nlp: Language) -> Iterator[Found]:
    """Link the notes."""
    ids, rows = notes()
    for language, text, *mentions in rows:
        found = Found(language, [], [], {})
        linked = ((ent.text, ent.kb_id_) for ent in nlp(text).ents)
        found.others.update((span, id) for span, id in linked if id not in ("", "NIL"))
        for mention, concepts in zip(mentions, ids, strict=True):
            spans = [span for span, id in found.others.items() if id in concepts.split()]
            around = [span for span in spans if mention in span]
            (found.right if around else found.missed).append(mention)
            for span in around:
                del found.others[span]
        yield found


if __name__ == "__main__":
    for found in link(spacy.load(sys.argv[1])):
        print(f"{found.language} {len(found.right)} missed: {found.missed} others: {found.others}")
