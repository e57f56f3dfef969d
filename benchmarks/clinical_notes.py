"""Links at default settings in five clinical notes: `python -m benchmarks.clinical_notes NAME=DIR`.

The notes (`benchmarks/notes`) were written for this benchmark, and every link in them was judged by
hand. `verdicts.json` has, by assets, note and place, "" for a right link, or why a link is wrong.
NAME is "starter" (which needs no DIR), or the name of assets that were judged. Links that nobody
has judged yet are listed, and make the exit code 1.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Annotated, NamedTuple

import spacy
import typer
from spacy.language import Language

from benchmarks.measured import RESULTS, report

NOTES = Path(__file__).parent / "notes"
VERDICTS = NOTES / "verdicts.json"
RIGHT, WRONG, UNJUDGED = "right", "wrong", "unjudged"


class Link(NamedTuple):
    """A link of a note; `key` is its place and concept, by which it is judged."""

    note: str
    key: str
    text: str
    name: str


def pipeline(assets: str | None) -> Language:
    """Make a pipeline that finds and links at default settings; None takes the starter."""
    nlp = spacy.blank("en")
    config = {"assets": assets} if assets else {}
    nlp.add_pipe("medical_mentions", config=config)
    nlp.add_pipe("medical_linker", config=config)
    return nlp


def links(nlp: Language) -> list[Link]:
    """Link all notes."""
    linked = []
    for path in sorted(NOTES.glob("*.txt")):
        for ent in nlp(path.read_text(encoding="utf-8")).ents:
            if ent._.cui is not None:
                key = f"{ent.start_char}-{ent.end_char} {ent.kb_id_}"
                linked.append(Link(path.stem, key, ent.text, ent._.candidates[0]["name"]))
    return linked


def judged(linked: list[Link], name: str) -> tuple[Counter[str], list[Link]]:
    """Count right and wrong links. RETURNS: the counts, and the links that nobody has judged."""
    verdicts = json.loads(VERDICTS.read_text(encoding="utf-8")).get(name, {})
    counts: Counter[str] = Counter()
    unjudged = []
    for link in linked:
        verdict = verdicts.get(link.note, {}).get(link.key)
        if verdict is None:
            unjudged.append(link)
        counts[UNJUDGED if verdict is None else WRONG if verdict else RIGHT] += 1
    return counts, unjudged


def main(
    assets: Annotated[list[str], typer.Argument(metavar="NAME=DIR...", help='Or "starter".')],
    output: Annotated[Path, typer.Option(help="JSON; a table beside it.")] = (
        RESULTS / "clinical_notes.json"
    ),
) -> None:
    """Link the notes, and count right and wrong links."""
    rows, are_judged = [], True
    for name, _, directory in (source.partition("=") for source in assets):
        counts, unjudged = judged(links(pipeline(directory or None)), name)
        rows.append({"assets": name, RIGHT: counts[RIGHT], WRONG: counts[WRONG]})
        for link in unjudged:
            typer.echo(f"not judged: {link.note} {link.key}: {link.text!r} as {link.name!r}")
        are_judged &= not unjudged
    report(output, rows, "Links in five clinical notes, default settings, judged by hand.")
    if not are_judged:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
