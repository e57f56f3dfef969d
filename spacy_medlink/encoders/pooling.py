"""From the vectors of word pieces to one vector of the string: pooling, and a projection."""

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load, save

from ..errors import Errors
from .preparation import CLS, MEAN, POOLER


def pool(
    output: Any, ids: torch.Tensor, mask: torch.Tensor, pooling: str, special: torch.Tensor
) -> torch.Tensor:
    """Make one vector of each string, of any length; see `BiEncoder.pooled` for length 1.

    output (ModelOutput): of the transformer: `last_hidden_state`, (n, length, dim), and for
        "pooler" `pooler_output`, (n, dim).
    ids, mask (Tensor): (n, length), mask 1 where not padding.
    pooling (str): "cls" takes the first piece; "mean" averages the pieces that are not special,
        "mean_all" all pieces, which is the mean of sentence-transformers; "pooler" takes what the
        transformer's pooler makes of the first piece: the tanh of a linear layer (Devlin et al.
        2019, section 3.1).
    special (Tensor): ids of special tokens, (n_special,).
    RETURNS (Tensor): (n, dim), float32.
    """
    if pooling == POOLER:
        whole: torch.Tensor = output.pooler_output.float()
        return whole
    hidden: torch.Tensor = output.last_hidden_state
    if pooling == CLS:
        return hidden[:, 0].float()
    words = mask.bool()
    if pooling == MEAN:
        # A string without any word piece (white space) keeps its special tokens: a zero vector
        # would have no direction.
        ordinary = words & ~torch.isin(ids, special)
        words = torch.where(ordinary.any(dim=1, keepdim=True), ordinary, words)
    weights = words.unsqueeze(-1).float()
    return (hidden.float() * weights).sum(dim=1) / weights.sum(dim=1)


def has_pooler(module: torch.nn.Module) -> bool:
    """Tell whether a transformer has a pooler with weights; one that loading made has zeros."""
    pooler = getattr(module, "pooler", None)
    return isinstance(pooler, torch.nn.Module) and any(
        bool(weight.any()) for weight in pooler.parameters()
    )


PROJECTION_FILE = "medlink_projection.safetensors"


def identity(dim: int) -> torch.nn.Linear:
    """Make a projection of `dim` numbers that changes nothing yet."""
    projection = torch.nn.Linear(dim, dim, bias=False)
    torch.nn.init.eye_(projection.weight)
    return projection


def dumped(projection: torch.nn.Linear) -> bytes:
    """Write a projection as safetensors."""
    return save({"weight": projection.weight.detach().cpu().contiguous()})


def parsed(data: bytes, source: str | Path) -> torch.nn.Linear:
    """Read what `dumped` wrote.

    source (Path): where it comes from, for the message. RAISES (MedlinkError): E206.
    """
    try:
        weight = load(data)["weight"]
        projection = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=False)
        projection.load_state_dict({"weight": weight})
    except Exception as error:  # safetensors raises classes of its own
        raise Errors.encoder_damaged(path=source, reason=error) from error
    return projection


def read_projection(directory: Path) -> torch.nn.Linear:
    """Read the projection that lies beside an encoder. RAISES (MedlinkError): E206."""
    path = directory / PROJECTION_FILE
    return parsed(path.read_bytes() if path.is_file() else b"", path)
