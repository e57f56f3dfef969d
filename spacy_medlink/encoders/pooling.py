"""Pooling: from the vectors of word pieces to one vector of the string."""

import torch


def pool(
    hidden: torch.Tensor,
    ids: torch.Tensor,
    mask: torch.Tensor,
    pooling: str,
    special: torch.Tensor,
) -> torch.Tensor:
    """Pool the last layer and scale to length 1.

    hidden (Tensor): (n, length, dim). ids, mask (Tensor): (n, length), mask 1 where not padding.
    pooling (str): "cls" takes the first piece; "mean" averages the pieces that are not special.
    special (Tensor): ids of special tokens, (n_special,).
    RETURNS (Tensor): (n, dim), float32.
    """
    if pooling == "cls":
        return torch.nn.functional.normalize(hidden[:, 0].float(), dim=1)
    words = mask.bool() & ~torch.isin(ids, special)
    # A string without any word piece (white space) keeps its special tokens: a zero vector would
    # have no direction.
    words = torch.where(words.any(dim=1, keepdim=True), words, mask.bool())
    weights = words.unsqueeze(-1).float()
    return torch.nn.functional.normalize((hidden.float() * weights).sum(dim=1), dim=1)
