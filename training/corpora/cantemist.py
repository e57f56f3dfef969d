"""CANTEMIST (Miranda-Escalada et al. 2020): 1,301 Spanish cancer cases, tumour morphology, ICD-O-3.

brat; the code of a mention is its note. Splits: "train", "dev1", "dev2", "test". The directories
cantemist-norm are read; the same texts without codes (cantemist-ner) are skipped.
"""

from collections.abc import Iterator
from pathlib import Path

from .formats.brat import pairs, read_brat
from .formats.text import read_text
from .ids import split_ids
from .layout import beside, split_of
from .records import Document, Mention
from .tally import Tally

_NORM = "cantemist-norm"


def read(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the documents, also those without a mention."""
    folder = beside(source)
    documents = list(pairs(folder, tally))
    norm = [pair for pair in documents if _NORM in pair[1].parts]
    for textual, annotation in norm or documents:
        text = read_text(textual, tally)
        if text is None:
            continue
        standoff = read_brat(annotation, tally)
        mentions = tuple(
            Mention(
                bound.said,
                bound.spans,
                split_ids(" ".join(standoff.notes.get(id, [])), "|+ "),
                bound.type,
                line=bound.line,
            )
            for id, bound in standoff.bounds.items()
        )
        split = split_of(annotation, folder)
        yield Document(annotation.stem, text, mentions, annotation, "es", split)
