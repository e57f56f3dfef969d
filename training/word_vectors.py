"""Word vectors made by a linker's encoder: for an NER, words like those of names are near."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import spacy
from sklearn.decomposition import PCA
from spacy.vectors import Vectors  # type: ignore[import-not-found]  # compiled, no stubs

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_medlink.types import Encoder

_DIM = 128
_LONGEST = 40  # characters of a word
_NAMES = 2  # least number of names with a word that is in no text


def write_word_vectors(
    nlp: "Language", encoder: "Encoder", texts: Iterable[str], names: Iterable[str], path: Path
) -> None:
    """Write a blank pipeline with the vectors of all words of texts, and of frequent ones of names.

    The letter case of words does not count. Of longer vectors 128 principal components are kept.
    nlp (Language): whose tokenizer says what a word is. path (Path): directory, new.
    """
    counts: Counter[str] = Counter()
    for name in names:
        counts.update({token.lower_ for token in nlp.make_doc(name)})
    found = {word for word, count in counts.items() if count >= _NAMES}
    for text in texts:
        found.update(token.lower_ for token in nlp.make_doc(text))
    words = sorted(word for word in found if len(word) <= _LONGEST and any(map(str.isalpha, word)))
    data = encoder.encode(words)
    if min(data.shape) > _DIM:
        data = PCA(_DIM, random_state=0).fit_transform(data)
    data = data / np.maximum(np.linalg.norm(data, axis=1, keepdims=True), 1e-9)
    blank = spacy.blank(nlp.lang or "xx")
    for word in words:
        blank.vocab.strings.add(word)
    blank.vocab.vectors = Vectors(
        strings=blank.vocab.strings, data=data.astype(np.float32), keys=words, attr="LOWER"
    )
    blank.to_disk(path)
