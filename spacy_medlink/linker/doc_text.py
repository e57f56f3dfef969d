"""The text of a Doc, from the texts of tokens that were read before.

`Doc.text` decodes every token anew: the largest part of what a remembered mention cost
(docs/decisions.md, 47).
"""

from typing import Any

import numpy as np
from spacy.tokens import Doc

_KEPT = 1 << 16
_SPACED = np.uint64(0x9E3779B97F4A7C15)  # what a space behind a token changes of its hash
# Text of a token with the space behind it, by the hash that spaCy identifies it by; of all
# vocabularies, since a hash is that of the text.
_texts: dict[int, str] = {}


def text_of(doc: Doc) -> str:
    """Get `doc.text`; safe to call from threads."""
    facts = doc.to_array(["ORTH", "SPACY"])
    keys = (facts[:, 0] ^ facts[:, 1] * _SPACED).tolist()
    parts: list[Any] = list(map(_texts.get, keys))
    try:
        return "".join(parts)
    except TypeError:  # None is where a token is new, in every other document
        if len(_texts) > _KEPT:
            _texts.clear()
        for place, part in enumerate(parts):
            if part is None:
                parts[place] = _texts[keys[place]] = doc[place].text_with_ws
        return "".join(parts)
