"""Bitext: pairs of translations, words or titles, each a concept of its own.

Liu et al. 2021, "Learning domain-specialised representations for cross-lingual biomedical entity
linking", section 2: general translation pairs with pseudo-labels, beside the names of a
terminology.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from spacy_medlink.errors import Errors
from spacy_medlink.kb.readers.lines import numbered_lines

from .names import Block, Tokenize, chunks, flattened, string_hash

_UNKNOWN = -1  # the number of the language that a bitext does not tell


def read_bitext(path: Path) -> Iterator[tuple[str, str]]:
    """Stream the pairs of a file: two columns, tab-separated, plain or gzip; further ones unread.

    Empty lines are skipped, and so are pairs of one string: they teach nothing.
    RAISES (MedlinkError): E516 a line without two texts, E107 no such file.
    """
    if not path.is_file():
        raise Errors.source_missing(path=path)
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("\t")[:2]]
        if len(cells) < 2 or not all(cells):
            raise Errors.bad_bitext(path=path, line=number)
        if cells[0].lower() != cells[1].lower():
            yield cells[0], cells[1]


def bitext_blocks(path: Path, tokenize: Tokenize, first_concept: int) -> Iterator[Block]:
    """Read a bitext as training names: every pair is the two names of a pseudo-concept.

    first_concept (int): number of the first pseudo-concept, above those of the knowledge base.
    """
    for chunk in chunks(read_bitext(path)):
        texts = [text for pair in chunk for text in pair]
        count = len(texts)
        yield Block(
            np.full(count, -1, dtype=np.int64),
            first_concept + np.arange(count) // 2,
            np.array([string_hash(text) for text in texts], dtype=np.uint64),
            np.ones(count, dtype=bool),
            np.full(count, _UNKNOWN, dtype=np.int16),
            *flattened(tokenize(texts)),
        )
        first_concept += len(chunk)
