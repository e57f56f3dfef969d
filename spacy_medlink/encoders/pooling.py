"""Pooling: from the vectors of word pieces to one vector of the string."""

import torch

from .preparation import CLS, MEAN


def pool(
    hidden: torch.Tensor,
    ids: torch.Tensor,
    mask: torch.Tensor,
    pooling: str,
    special: torch.Tensor,
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
        own = words & ~torch.isin(ids, special)
        words = torch.where(own.any(dim=1, keepdim=True), own, words)
    weights = words.unsqueeze(-1).float()
    return torch.nn.functional.normalize((hidden.float() * weights).sum(dim=1), dim=1)
