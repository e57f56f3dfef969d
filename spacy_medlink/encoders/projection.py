"""Projection: a linear map from the vectors of a shared network to those that are compared."""

from pathlib import Path

import torch
from safetensors.torch import load, save

from ..errors import Errors

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
