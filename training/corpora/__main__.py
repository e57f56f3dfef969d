"""Convert a published corpus into gold mentions, or count what corpora hold.

`python -m training.corpora NAME INPUT OUTPUT [--split train] [--strict]`
`python -m training.corpora stats DIR... [--kb FILE]`
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from spacy_medlink.util.progress import show_progress

from ..verbs import Overwrite, run_verb
from . import statistics
from .convert import convert
from .registry import find_corpus
from .tally import Tally


def main(
    name: Annotated[str, typer.Argument(help="Name of the corpus; a wrong one lists them.")],
    source: Annotated[Path, typer.Argument(metavar="INPUT", help="File or directory, unpacked.")],
    output: Annotated[
        Path, typer.Argument(help="JSON Lines to write; compressed if it ends in .gz.")
    ],
    split: Annotated[
        list[str] | None, typer.Option(help="Only this split; may be given again.")
    ] = None,
    strict: Annotated[bool, typer.Option(help="Stop at the first fault.")] = False,
    show_text: Annotated[
        bool, typer.Option(help="Quote the documents where offsets do not fit.")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Convert a corpus and report what was left out, and why."""
    corpus = find_corpus(name)
    tally = Tally(strict, show_text)
    convert(corpus, source, output, tally, split or (), show_progress, overwrite)
    typer.echo(f"{name} -> {output}; ids of {corpus.ids}")
    for line in tally.report():
        typer.echo(line)


if __name__ == "__main__":
    if sys.argv[1:2] == ["stats"]:
        del sys.argv[1]
        run_verb(statistics.main)
    run_verb(main)
