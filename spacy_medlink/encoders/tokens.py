"""Cuts texts into word pieces for encoders, without torch or `transformers`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Protocol

import numpy as np
from tokenizers import Tokenizer

from ..types import Data, Ints2d
from .preparation import Preparation

SPECIAL_TOKENS = "special_tokens_map.json"


class FastTokenizer(Protocol):
    """The part of a tokenizer of `transformers` that encoding needs."""

    all_special_ids: list[int]
    unk_token_id: int | None
    pad_token_id: int | None
    model_max_length: int

    @property
    def backend_tokenizer(self) -> Tokenizer:
        """The tokenizer itself, which is called without its truncation and padding."""

    def get_vocab(self) -> dict[str, int]:
        """Map word pieces to their ids."""


@dataclass
class LightTokenizer:
    """A `FastTokenizer` without `transformers`."""

    backend_tokenizer: Tokenizer
    all_special_ids: list[int]
    unk_token_id: int | None
    pad_token_id: int | None
    model_max_length: int

    def get_vocab(self) -> dict[str, int]:
        """Map word pieces to their ids."""
        vocabulary: dict[str, int] = self.backend_tokenizer.get_vocab(with_added_tokens=True)
        return vocabulary


def read_tokenizer(directory: Path) -> LightTokenizer:
    """Read the tokenizer that `BiEncoder.save` wrote."""
    tokenizer = Tokenizer.from_str((directory / "tokenizer.json").read_text("utf-8"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokens = {
        name: [
            str(token["content"] if isinstance(token, dict) else token)
            for token in (value if isinstance(value, list) else [value])
        ]
        for name, value in read_json(directory, SPECIAL_TOKENS).items()
    }
    return LightTokenizer(
        tokenizer,
        [tokenizer.token_to_id(token) for texts in tokens.values() for token in texts],
        tokenizer.token_to_id(tokens["unk_token"][0]) if "unk_token" in tokens else None,
        tokenizer.token_to_id(tokens["pad_token"][0]) if "pad_token" in tokens else None,
        int(read_json(directory, "tokenizer_config.json")["model_max_length"]),
    )


def read_json(directory: Path, name: str) -> Data:
    """Read a JSON file of a directory."""
    content: Data = json.loads((directory / name).read_text("utf-8"))
    return content


def special_ids(tokenizer: FastTokenizer) -> list[int]:
    """List the ids of tokens that are no words; a word that the model does not know is a word."""
    return sorted(set(tokenizer.all_special_ids) - {tokenizer.unk_token_id})


def cut(
    tokenizer: FastTokenizer, preparation: Preparation, texts: Sequence[str], most: int
) -> list[list[int]]:
    """Cut strings into word-piece ids, special tokens included, at most `most` each."""
    # The backend is called without its truncation state, which threads would share.
    prepared = preparation(texts)
    encodings = tokenizer.backend_tokenizer.encode_batch_fast(prepared, add_special_tokens=True)
    pieces = [encoding.ids for encoding in encodings]
    # The last piece is the separator, which models expect to see.
    return [ids if len(ids) <= most else [*ids[: most - 1], ids[-1]] for ids in pieces]


def batches_of(pieces: Sequence[Sequence[int]], size: int) -> list[list[int]]:
    """Divide texts into batches of similar length, the longest first: little is padded.

    size (int): word pieces in a batch, padding included; a longer text is a batch of its own.
    RETURNS (List[List[int]]): the places of the texts of each batch.
    """
    order = sorted(range(len(pieces)), key=lambda at: -len(pieces[at]))
    batches, start = list[list[int]](), 0
    while start < len(order):
        count = max(1, size // len(pieces[order[start]]))
        batches.append(order[start : start + count])
        start += count
    return batches


def rectangle(pieces: Sequence[Sequence[int]], width: int, pad_id: int) -> Ints2d:
    """Lay id lists in a table, its first column their lengths: (n, 1 + width), int64."""
    lengths = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))
    table = np.full((len(pieces), 1 + width), pad_id, dtype=np.int64)
    places = np.arange(table.shape[1])[None]
    table[(places > 0) & (places <= lengths[:, None])] = np.fromiter(
        chain.from_iterable(pieces), dtype=np.int64, count=int(lengths.sum())
    )
    table[:, 0] = lengths
    return table
