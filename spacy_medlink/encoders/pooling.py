"""From the vectors of word pieces to one vector of the string: pooling, and a projection."""

from pathlib import Path

import torch
from safetensors.torch import load, save

from ..errors import Errors
from .preparation import CLS, MEAN


def pool(
    hidden: torch.Tensor, ids: torch.Tensor, mask: torch.Tensor, pooling: str, special: torch.Tensor
) -> torch.Tensor:
    """Pool the last layer and scale to length 1.

    hidden (Tensor): (n, length, dim). ids, mask (Tensor): (n, length), mask 1 where not padding.
    pooling (str): "cls" takes the first piece; "mean" averages the pieces that are not special,
        "mean_all" all pieces, which is the mean of sentence-transformers.
    special (Tensor): ids of special tokens, (n_special,).
    RETURNS (Tensor): (n, dim), float32.
    """
    if pooling == CLS:
        return torch.nn.functional.normalize(hidden[:, 0].float(), dim=1)
    words = mask.bool()
    if pooling == MEAN:
        # A string without any word piece (white space) keeps its special tokens: a zero vector
        # would have no direction.
        ordinary = words & ~torch.isin(ids, special)
        words = torch.where(ordinary.any(dim=1, keepdim=True), ordinary, words)
    weights = words.unsqueeze(-1).float()
    return torch.nn.functional.normalize((hidden.float() * weights).sum(dim=1), dim=1)


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
