"""Cutter: strings to word pieces, without the encoder, so that it is cheap to send to a process."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.preparation import AS_IT_IS, Preparation


@dataclass(frozen=True)
class Cutter:
    """A tokenizer that cuts as `BiEncoder.tokenize` does, and can be sent to another process.

    backend (tokenizers.Tokenizer): the encoder's. max_length (int): in word pieces.
    preparation (Preparation): the encoder's.
    """

    backend: Any
    max_length: int
    preparation: Preparation = AS_IT_IS

    @classmethod
    def of(cls, encoder: BiEncoder) -> "Cutter":
        """Make the cutter of an encoder."""
        return cls(encoder.tokenizer._tokenizer, encoder.max_length, encoder.preparation)

    def __call__(self, texts: Sequence[str]) -> list[list[int]]:
        """Cut strings, special tokens included."""
        # The fast variant, in newer versions, leaves out offsets, which are not needed here.
        encode = getattr(self.backend, "encode_batch_fast", self.backend.encode_batch)
        encodings = encode(self.preparation(texts), add_special_tokens=True)
        return [self._cut(encoding.ids) for encoding in encodings]

    def fingerprint(self) -> str:
        """Return a hash of all that decides about the pieces."""
        text = f"{self.max_length} {self.preparation} {self.backend.to_str()}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def _cut(self, ids: list[int]) -> list[int]:
        # Keeps the last piece, the separator, which models expect.
        return ids if len(ids) <= self.max_length else [*ids[: self.max_length - 1], ids[-1]]
