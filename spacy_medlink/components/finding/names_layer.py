"""What a dictionary finds, as a feature of tokens: an NER learns when to trust it."""

from collections.abc import Callable
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import HashEmbed, Maxout, Model, chain, concatenate, with_array
from thinc.types import Floats2d

_OUTSIDE, _FIRST, _INSIDE, _LAST, _ALONE = range(5)
_ROWS = 64  # more rows than values, so that each value has a vector of its own
_WIDTH = 16

Docs = list[Doc]


def with_names(
    tok2vec: Model[Docs, list[Floats2d]],
    width: int,
    spans_key: str = "names",
) -> Model[Docs, list[Floats2d]]:
    """Make `spacy-medlink.WithNames.v1`: vectors of tokens that know of the names around them.

    A `medical_mentions` earlier in the pipeline writes the names to `doc.spans[spans_key]`.

    tok2vec (Model): what else is known of tokens, such as `spacy.MultiHashEmbed.v2`.
    width (int): of the vectors, (n_tokens, width).
    """
    features: Model[Docs, list[Any]] = Model(
        "names_of_dictionary", _forward, attrs={"spans_key": spans_key}
    )
    names: Model[Docs, list[Floats2d]] = chain(
        features, with_array(HashEmbed(_WIDTH, _ROWS, column=0))
    )
    mixed: Model[Floats2d, Floats2d] = Maxout(width, None, nP=3, normalize=True)
    return chain(concatenate(tok2vec, names), with_array(mixed))


def _forward(
    model: Model[Docs, list[Any]], docs: Docs, is_train: bool
) -> tuple[list[Any], Callable[[list[Any]], Docs]]:
    """Return the place of each token in a name: (n_tokens, 1) for each Doc."""
    features = []
    for doc in docs:
        places: Any = np.full((len(doc), 1), _OUTSIDE, dtype=np.int64)
        for span in sorted(doc.spans.get(model.attrs["spans_key"]) or (), key=len):
            if len(span) == 1:
                places[span.start] = _ALONE
            else:
                places[span.start : span.end] = _INSIDE
                places[span.start], places[span.end - 1] = _FIRST, _LAST
        features.append(model.ops.asarray2i(places))
    return features, lambda _: []
