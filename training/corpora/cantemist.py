"""CANTEMIST (Miranda-Escalada et al. 2020): 1,301 Spanish cancer cases, tumour morphology, ICD-O-3.

brat; the code of a mention is its note. Splits: "train", "dev1", "dev2", "test". The directories
cantemist-norm are read; the same texts without codes (cantemist-ner) are skipped.
"""

from collections.abc import Iterator
from pathlib import Path

from spacy_medlink.exchange.documents import Document, Ids, Mention
from spacy_medlink.exchange.ids import split_ids
from spacy_medlink.exchange.standoff import read_brat

from .layout import beside, pairs, split_of, texts_of, walk
from .tally import Tally

_NORM = "cantemist-norm"


def read(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the documents, also those without a mention."""
    folder = beside(source)
    annotations = [path for path in walk(folder) if path.suffix == ".ann"]
    norm = [path for path in annotations if _NORM in path.parts]
    for path, text in pairs(norm or annotations, texts_of(folder), tally):
        standoff = read_brat(path, tally)
        mentions = tuple(
            Mention(
                bound.said,
                bound.spans,
                _ids(standoff.notes.get(id, [])),
                bound.type,
                (),
                bound.line,
            )
            for id, bound in standoff.bounds.items()
        )
        yield Document(path.stem, text, mentions, path, "es", split_of(path, folder))


def _ids(notes: list[str]) -> Ids:
    return split_ids(" ".join(notes), "|+ ")
