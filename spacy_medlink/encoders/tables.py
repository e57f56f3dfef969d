"""Static encoders of others: model2vec's, such as `potion-*`, and StaticEmbedding's.

Both are a table with a vector for each word piece, of which texts get the mean (Tulkens and van
Dongen 2024, "Model2Vec"; sentence-transformers). Here they become what our static students are, a
BERT without layers, so that whatever loads, builds, exports or trains an encoder takes them.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from ..types import Data, Floats2d
from .directory import CONFIG, WEIGHTS, read_json, refused

MODULES = "modules.json"
NESTED = "0_StaticEmbedding"
LONGEST = 512  # word pieces of a text, model2vec's default
_PADS = ("[PAD]", "<pad>")
_TABLES = ("embeddings", "embedding.weight")  # of model2vec, and of sentence-transformers
_LINEAR = 1e8  # how many times the largest variance the layer norm adds to each


def static_directory(directory: Path) -> Path | None:
    """Find the directory with table and tokenizer of a static encoder; None for another kind.

    RAISES (MedlinkError): E206 for modules behind the table that are more than a normalisation.
    """
    modules = read_json(directory, MODULES)
    types = [
        str(module.get("type")).rpartition(".")[2] if isinstance(module, dict) else ""
        for module in (modules if isinstance(modules, list) else [])
    ]
    if types[:1] == ["StaticEmbedding"]:
        if set(types[1:]) - {"Normalize"}:
            raise refused(directory, f"{MODULES} has {types[1:]} behind a static embedding")
        nested = directory / NESTED
        return nested if (nested / WEIGHTS).is_file() else directory
    config = read_json(directory, CONFIG)
    is_model2vec = isinstance(config, dict) and config.get("model_type") == "model2vec"
    return directory if is_model2vec else None


def load_table(directory: Path) -> tuple[Any, Any]:
    """Load tokenizer and BERT without layers of a static encoder (see `static_directory`).

    RETURNS (Tuple[PreTrainedTokenizerFast, BertModel]): whose "mean" is the mean of the table.
    RAISES (MedlinkError): E206 for files that cannot be read, or do not fit each other.
    """
    from transformers import PreTrainedTokenizerFast

    try:
        arrays = load_file(directory / WEIGHTS)
        tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    except BaseException as error:  # both libraries raise classes of their own, and panics
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise refused(directory, " ".join(str(error).split())) from error
    table = _whole_table(directory, arrays, max(tokenizer.get_vocab().values(), default=-1) + 1)
    tokens = tokenizer.get_vocab()
    pad = next((token for token in _PADS if token in tokens), None)
    if pad is None:
        pad = _PADS[0]
        tokenizer.add_special_tokens([pad])
        table = np.concatenate([table, np.zeros_like(table[:1])])
    # In place of other special tokens: a text without pieces needs one, which no mean counts.
    pad_id = tokenizer.token_to_id(pad)
    behind_pad = TemplateProcessing(single=f"{pad} $A", special_tokens=[(pad, pad_id)])
    tokenizer.post_processor = behind_pad
    unknown = _unknown_token(tokenizer)
    special: Data = {"pad_token": pad, "unk_token": unknown}
    if "embeddings" in arrays and unknown is not None:  # which model2vec leaves out of the mean
        special = {"pad_token": pad, "mask_token": unknown}
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=LONGEST, clean_up_tokenization_spaces=False,
        **{name: token for name, token in special.items() if token is not None},
    )  # fmt: skip
    return fast, _bert(table, pad_id)


def _whole_table(directory: Path, arrays: dict[str, Any], count: int) -> Floats2d:
    """Get the weighted vectors of word pieces by their ids: (count, dim), float32.

    arrays: `mapping`, (count,), has the row of each piece, where pieces share rows; `weights`,
        (count,), the weight of each.
    """
    table = next((arrays[name] for name in _TABLES if name in arrays), None)
    if table is None or table.ndim != 2 or table.dtype.kind != "f":
        raise refused(directory, f"{WEIGHTS} has no table of vectors ({' or '.join(_TABLES)})")
    try:
        if (mapping := arrays.get("mapping")) is not None:
            table = table[mapping]
        if (weights := arrays.get("weights")) is not None:
            table = table.astype(np.float32) * weights.astype(np.float32)[: len(table), None]
    except (IndexError, ValueError) as error:
        raise refused(directory, f"{WEIGHTS}: {error}") from error
    if not 0 < count <= len(table) or not np.isfinite(table).all():
        problem = f"{len(table):,} vectors for {count:,} word pieces, or some that are not finite"
        raise refused(directory, f"{WEIGHTS} has {problem}")
    return np.asarray(table[:count], dtype=np.float32)


def _unknown_token(tokenizer: Tokenizer) -> str | None:
    model = json.loads(tokenizer.to_str())["model"]
    unknown: str | None = model.get("unk_token")
    if unknown is None and model.get("unk_id") is not None:
        unknown = model["vocab"][model["unk_id"]][0]
    return unknown


def _bert(table: Floats2d, pad_id: int) -> Any:
    """Make a BERT without layers that gives the rows of a table.

    Its layer norm would subtract the mean of each vector and divide by its deviation. A few more
    dimensions make each mean 0, and are scaled by 0 again; a large constant beside the variance
    makes the divisor the same for all.
    """
    import torch

    count, dim = table.shape
    width = dim + 8 - dim % 8
    words = torch.zeros(count, width)
    words[:, :dim] = torch.from_numpy(table)
    words[:, dim:] = -words[:, :dim].sum(dim=1, keepdim=True) / (width - dim)
    epsilon = _LINEAR * max(float(table.var(axis=1).max()), 1e-6)
    module = bert_without_layers(words.numpy(), LONGEST, epsilon, pad_id)
    scale = module.embeddings.LayerNorm.weight.data
    scale[:dim], scale[dim:] = epsilon**0.5, 0
    return module


def bert_without_layers(table: Floats2d, length: int, epsilon: float, pad_id: int) -> Any:
    """Make a BERT without layers, which normalises the rows of a table, in evaluation mode.

    table (Floats2d): (n_pieces, width). length (int): word pieces of a text, at most. epsilon
        (float): what its layer norm adds to the variance of a row.
    """
    import torch
    from transformers import BertConfig, BertModel

    module = BertModel(
        BertConfig(
            vocab_size=len(table), hidden_size=table.shape[1], num_hidden_layers=0,
            num_attention_heads=1, intermediate_size=1, type_vocab_size=1,
            max_position_embeddings=length, layer_norm_eps=epsilon, pad_token_id=pad_id,
        )
    )  # fmt: skip
    for parameter in module.parameters():
        torch.nn.init.zeros_(parameter)
    torch.nn.init.ones_(module.embeddings.LayerNorm.weight)
    module.embeddings.word_embeddings.weight.data.copy_(torch.from_numpy(table))
    return module.eval()
