"""Set documents of a gold file apart to choose weights on; training does not see them.

`python -m training.split corpora/train.jsonl corpora/train90.jsonl corpora/dev10.jsonl`
"""

import random
from pathlib import Path
from typing import Annotated

import typer

from spacy_medlink.errors import Errors
from spacy_medlink.kb.gold import gold_lines, read_gold
from spacy_medlink.util.files import replacing_file
from spacy_medlink.util.outputs import FileKind, check_output

from .verbs import Overwrite, run_verb

_GOLD = FileKind("a part of a gold file")  # gold looks the same, whoever made it


def split_gold(
    gold: Path, kept: Path, apart: Path, share: float, seed: int, overwrite: bool = False
) -> tuple[int, int]:
    """Divide the documents at random; bare mentions are documents of one mention.

    share (float): of the documents to set apart, at least one and not all. overwrite (bool):
        replace files that have something else.
    RETURNS (Tuple[int, int]): how many documents were kept, and set apart.
    RAISES (MedlinkError): E107, E401-E404 for the file, E530 for fewer than two documents,
        E120-E124 for what is there.
    """
    check_output(kept, _GOLD, [gold], overwrite=overwrite)
    check_output(apart, _GOLD, [gold, kept], overwrite=overwrite)
    numbers = [document.line for document in read_gold(gold)]
    if len(numbers) < 2:
        raise Errors.too_few_rows(path=gold, found=len(numbers), wanted=2, what="documents")
    count = min(max(1, round(share * len(numbers))), len(numbers) - 1)
    chosen = set(random.Random(seed).sample(numbers, count))
    lines = [(line_number, line.rstrip("\r\n")) for line_number, line in gold_lines(gold)]
    with (
        replacing_file(kept, _GOLD, [gold], overwrite=overwrite) as first,
        replacing_file(apart, _GOLD, [gold], overwrite=overwrite) as second,
    ):
        for path, lines_of in ((first, set(numbers) - chosen), (second, chosen)):
            text = "\n".join(line for line_number, line in lines if line_number in lines_of)
            path.write_text(text + "\n", encoding="utf-8")
    return len(numbers) - count, count


def main(
    gold: Annotated[Path, typer.Argument(help="Gold mentions, plain or .gz.")],
    kept: Annotated[Path, typer.Argument(help="File for most documents, JSON Lines.")],
    apart: Annotated[Path, typer.Argument(help="File for those set apart.")],
    share: Annotated[float, typer.Option(min=0, max=1, help="To set apart.")] = 0.1,
    seed: Annotated[int, typer.Option(help="Of the draw.")] = 0,
    overwrite: Overwrite = False,
) -> None:
    """Set documents of a gold file apart."""
    counts = split_gold(gold, kept, apart, share, seed, overwrite)
    typer.echo(f"{kept}: {counts[0]:,} documents; {apart}: {counts[1]:,}")


if __name__ == "__main__":
    run_verb(main)
