"""Texts without labels, which a student and its teacher both encode."""

from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.random import Generator

from spacy_medlink.errors import Errors
from spacy_medlink.fitting.mutations import mutated
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.readers.lines import numbered_lines

from ..recipe.settings import DistilSettings
from .names import Tokenize, TokenTable, TrainingNames, distinct_names, string_hash

_WORDS = 6  # of a piece of text, at most, like mentions


def read_texts(
    kb: KnowledgeBase,
    settings: DistilSettings,
    seed: int,
    skip: Collection[int] = (),
    text: Path | None = None,
) -> list[str]:
    """Read names, each followed by its mutations, then pieces of a file.

    skip (Collection[int]): held-out name rows, to leave out.
    text (Optional[Path]): a text file; a line of few words is not cut.
    RAISES (MedlinkError): E107 no such file.
    """
    generator = np.random.default_rng(seed)
    rows = [entry[0] for entry in distinct_names(kb) if entry[0] not in skip]
    texts: list[str] = []
    for place in generator.permutation(len(rows))[: settings.texts].tolist():
        name = kb.name_at(rows[place])
        texts.append(name.text)
        made = (mutated(name.text, generator, name.lang or "en") for _ in range(settings.mutations))
        texts += filter(None, made)
        if len(texts) >= settings.texts:
            break
    if text is not None:
        texts += islice(_pieces(text, generator), settings.texts)
    return texts


def unlabelled(texts: list[str], tokenize: Tokenize) -> TrainingNames:
    """Make training names of texts, each a separate pseudo-concept."""
    count = len(texts)
    return TrainingNames(
        np.full(count, -1, dtype=np.int64),
        np.arange(count),
        np.array([string_hash(text) for text in texts], dtype=np.uint64),
        np.ones(count, dtype=bool),
        TokenTable.build(texts, tokenize),
    )


def _pieces(path: Path, generator: Generator) -> Iterator[str]:
    """Cut lines into runs of words as long as mentions."""
    if not path.is_file():
        raise Errors.source_missing(path=path)
    for _, line in numbered_lines(path):
        words = line.split()
        while words:
            count = len(words) if len(words) <= _WORDS else int(generator.integers(1, _WORDS + 1))
            yield " ".join(words[:count])
            words = words[count:]
