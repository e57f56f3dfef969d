"""Endings: predicts the endings of the ids of composed codes from the words of a mention.

Behind a slash or a point, such codes state a property: ICD-O-3 the behaviour and the grade of a
tumour ("8140/63": spread, poorly differentiated), ICD-10 that something is "other" (.8) or
"unspecified" (.9). A few words of a mention tell the property. Retrieval alone misses it: names
that match the other words of the mention are more similar.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from ..util.held import File, source_of
from .linear import damage_is_told

Weights = NDArray[np.float32]

LEAST = -10.0  # lowest log probability
_SEPARATOR = re.compile(r"[/.]")
_BEGINNINGS, _ENDS = (3, 4, 5, 6), (2, 3, 4)  # letters of a word
_KEPT = 16_384
_SAYS = "says"


def ending_of(id: str) -> str:
    """Get the part of an id after its first slash or point; "" where it has neither."""
    parts = _SEPARATOR.split(id, maxsplit=1)
    return parts[1] if len(parts) > 1 else ""


def beginning_of(id: str) -> str:
    """Get the part of an id before its first slash or point."""
    return _SEPARATOR.split(id, maxsplit=1)[0]


def features_of(text: str) -> list[str]:
    """List the features of a key: words, their beginnings and ends, pairs of words; each once."""
    words = text.split()
    found = [*words, *(f"{one} {two}" for one, two in pairwise(words))]
    for word in words:
        found += [f"{word[:size]}*" for size in _BEGINNINGS]
        found += [f"*{word[-size:]}" for size in _ENDS]
    return list(dict.fromkeys(found))


class Endings:
    """A multinomial logistic regression from features to endings, as plain numbers.

    endings (Sequence[str]): the classes. features (Sequence[str]): of `features_of`.
    weights (Weights): (n_features, n_endings). bias (Weights): (n_endings,).
    """

    def __init__(
        self, endings: Sequence[str], features: Sequence[str], weights: Weights, bias: Weights
    ) -> None:
        self.endings, self.features = tuple(endings), tuple(features)
        self.weights, self.bias = weights, bias
        self._column = {ending: number for number, ending in enumerate(self.endings)}
        self._row = {feature: number for number, feature in enumerate(self.features)}
        self._logs_of = lru_cache(_KEPT)(self._logs)

    def log_probability(self, text: str, id: str) -> float:
        """Compute the log probability that the id of a text's concept ends like this id.

        text (str): a key. RETURNS (float): a natural logarithm, at least LEAST.
        """
        column = self._column.get(ending_of(id))
        return LEAST if column is None else max(LEAST, float(self._logs_of(text)[column]))

    def _logs(self, text: str) -> Weights:
        rows = [self._row[one] for one in features_of(text) if one in self._row]
        logits = self.bias
        if rows:  # scaled to length 1, as in the fitting
            logits = self.bias + self.weights[rows].sum(axis=0) / np.sqrt(len(rows))
        logits = logits - logits.max()
        logs: Weights = logits - np.log(np.exp(logits).sum())
        return logs

    @property
    def fingerprint(self) -> str:
        """Make a fingerprint of the model."""
        digest = hashlib.sha256(json.dumps([self.endings, self.features]).encode())
        for part in (self.weights, self.bias):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()[:32]

    def save(self, path: Path) -> None:
        """Write a safetensors file.

        RAISES (OSError): when the disk is full.
        """
        says = {"endings": self.endings, "features": self.features}
        parts = {"weights": np.ascontiguousarray(self.weights), "bias": self.bias}
        try:
            # One entry: safetensors writes several in any order.
            save_file(parts, path, {_SAYS: json.dumps(says, ensure_ascii=False)})
        except SafetensorError as error:
            raise OSError(str(error)) from error

    @classmethod
    def load(cls, file: File) -> "Endings":
        """Read the file of `save`.

        RAISES (MedlinkError): E202 when the file is damaged.
        """
        with damage_is_told(file):
            try:
                with safe_open(source_of(file), framework="np") as parts:
                    says = json.loads((parts.metadata() or {})[_SAYS])
                    weights, bias = parts.get_tensor("weights"), parts.get_tensor("bias")
            except SafetensorError as error:
                raise ValueError(str(error)) from error
            endings, features = says["endings"], says["features"]
            if weights.shape != (len(features), len(endings)) or bias.shape != (len(endings),):
                raise ValueError("numbers that do not belong to the words")
            if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
                raise ValueError("numbers that cannot be")
            return cls(endings, features, weights, bias)
