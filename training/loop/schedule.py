"""The learning rate over the course of training."""


def rate_factor(progress: float, warmup: float, decay: str) -> float:
    """Compute the factor of the learning rate.

    progress (float): finished part of the training, 0..1. Not a step, because a budget of minutes
    may end training before its last step, and the rate must still reach its end.
    warmup (float): part in which it rises from 0 to 1. decay (str): "linear" to 0, or "constant".
    """
    if progress < warmup:
        return progress / warmup
    if decay == "constant":
        return 1.0
    return max(0.0, (1 - progress) / (1 - warmup))
