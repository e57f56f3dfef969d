"""The learning rate over the course of training."""


def rate_factor(progress: float, warmup: float, decay: str) -> float:
    """Compute by what the learning rate is multiplied.

    progress (float): part of the training that is done, 0..1. By part, not by step, because a
    budget of minutes may end training before its last step: the rate then reaches its end too.
    warmup (float): part in which it rises from 0 to 1. decay (str): "linear" to 0, or "constant".
    """
    if progress < warmup:
        return progress / warmup
    if decay == "constant":
        return 1.0
    return max(0.0, (1 - progress) / (1 - warmup))
