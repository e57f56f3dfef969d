"""Several losses over the same batch, added up with weights (CODER, L = L_MS + mu L_TransE)."""

from collections.abc import Sequence

import torch

from spacy_medlink.encoders.objectives.protocol import Batch, Objective, Weights


class JointObjective:
    """A main objective and weighted parts.

    parts (Sequence[Tuple[str, float, Module]]): name (for the checkpoint), weight, and the module
        that computes a loss of vectors, (n, dim), and their batch.
    """

    def __init__(
        self, main: Objective, parts: Sequence[tuple[str, float, torch.nn.Module]]
    ) -> None:
        self._main, self._parts = main, list(parts)

    def __call__(self, vectors: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, int]:
        """Compute the sum of the losses, and count the pairs of the main loss."""
        loss, mined = self._main(vectors, batch)
        for _, weight, part in self._parts:
            loss = loss + weight * part(vectors.float(), batch)
        return loss, mined

    def parameters(self) -> list[torch.nn.Parameter]:
        """List the trainable weights of all parts."""
        own = (weight for _, _, part in self._parts for weight in part.parameters())
        return [*self._main.parameters(), *own]

    def after_step(self) -> None:
        """Tell the main objective."""
        self._main.after_step()

    def state(self) -> Weights:
        """Get the memory of the main objective and the weights of the parts."""
        of_parts = {
            f"{name}.{position}": parameter.detach()
            for name, _, part in self._parts
            for position, parameter in enumerate(part.parameters())
        }
        return {**self._main.state(), **of_parts}

    @torch.no_grad()
    def load_state(self, state: Weights) -> None:
        """Put back what `state` gave."""
        self._main.load_state(state)
        for name, _, part in self._parts:
            for position, parameter in enumerate(part.parameters()):
                parameter.copy_(state[f"{name}.{position}"])
