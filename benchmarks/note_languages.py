"""One invented note in each language, linked: `python -m benchmarks.note_languages NAME`.

NAME is an installed package, or the directory of a pipeline. `benchmarks/notes/languages.tsv` has
the notes, which say the same, and the six mentions of each; its header, the ids of their concepts.
"""

import csv
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.language import Language

from benchmarks.measured import RESULTS, report

NOTES = Path(__file__).parent / "notes" / "languages.tsv"


def rows(nlp: Language) -> list[dict[str, object]]:
    """Link the notes. RETURNS: of each, how many mentions have their concept, which have not, and
    the spans that are linked to something else.

    A mention has its concept if that is the link of its span, or of one with words around it.
    """
    with NOTES.open(encoding="utf-8", newline="") as file:
        (_, _, *ids), *notes = csv.reader(file, delimiter="\t")
    table: list[dict[str, object]] = []
    for language, text, *mentions in notes:
        linked = {ent.text: ent.kb_id_ for ent in nlp(text).ents if ent.kb_id_ not in ("", "NIL")}
        right = {
            (mention, span)
            for mention, concepts in zip(mentions, ids, strict=True)
            for span, concept in linked.items()
            if mention in span and concept in concepts.split()
        }
        found, spans = {mention for mention, _ in right}, {span for _, span in right}
        missed = ", ".join(mention for mention in mentions if mention not in found)
        others = ", ".join(f"{span} {id}" for span, id in linked.items() if span not in spans)
        row: dict[str, object] = {"language": language, "right": f"{len(found)} of {len(ids)}"}
        table.append({**row, "missed": missed, "other links": others})
    return table


def main(
    pipeline: Annotated[str, typer.Argument(metavar="NAME")],
    output: Annotated[Path, typer.Option(help="JSON; a table beside it.")] = RESULTS
    / "note_languages.json",
) -> None:
    """Link the notes, and write what is found."""
    report(output, rows(spacy.load(pipeline)), "Six mentions in an invented note of each language.")


if __name__ == "__main__":
    typer.run(main)
