"""SAP training as its authors' code does it: the yardstick of `benchmarks.training`.

Liu et al. 2021: both names of each pair are padded to 25 word pieces and encoded in the order of
the pairs, so a name in several pairs is encoded several times. Dropout is the base's, attention is
the library's default, AdamW works parameter by parameter, and mining is online over all hard
triplets.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import torch
from pytorch_metric_learning.losses import MultiSimilarityLoss
from pytorch_metric_learning.miners import TripletMarginMiner

from spacy_medlink.encoders.loading import load_transformer

_LENGTH = 25


class Reference:
    """The loop of the authors' code.

    base (str): directory of the encoder. precision (str): "bf16" for autocast (the paper's
    automatic mixed precision), or "fp32".
    """

    def __init__(self, base: str, device: str, precision: str) -> None:
        self._tokenizer, module = load_transformer(Path(base), attention=None)
        self._module = module.to(device).train()
        self._optimizer = torch.optim.AdamW(
            self._module.parameters(), lr=2e-5, weight_decay=0.01, foreach=False, fused=False
        )
        self._miner = TripletMarginMiner(margin=0.2, type_of_triplets="all")
        self._loss = MultiSimilarityLoss(alpha=2, beta=50, base=0.5)
        self._device, self._half = torch.device(device), precision == "bf16"

    def step(self, texts: Sequence[tuple[str, str]], concepts: Sequence[int]) -> int:
        """Train on pairs of names. RETURNS the number of names encoded."""
        labels = torch.tensor(list(concepts) * 2, device=self._device)
        with self._autocast():
            sides = [self._encode([pair[side] for pair in texts]) for side in (0, 1)]
            vectors = torch.cat(sides)
            mined = self._miner(vectors, labels)
            loss = self._loss(vectors, labels, mined)
        loss.backward()
        self._optimizer.step()
        self._optimizer.zero_grad()
        return len(labels)

    def _encode(self, texts: list[str]) -> torch.Tensor:
        batch = self._tokenizer(
            texts, padding="max_length", max_length=_LENGTH, truncation=True, return_tensors="pt"
        ).to(self._device)
        vectors: torch.Tensor = self._module(**batch).last_hidden_state[:, 0]
        return vectors

    def _autocast(self) -> AbstractContextManager[object]:
        return torch.autocast(self._device.type, dtype=torch.bfloat16, enabled=self._half)
