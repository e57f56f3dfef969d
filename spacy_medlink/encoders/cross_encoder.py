"""CrossEncoder: reads a mention in its context and a candidate together (no spaCy).

ClinLinker (Gallego et al. 2024, section 3.2) and BLINK (Wu et al. 2020, section 4.2): a bi-encoder
proposes candidates, and a transformer that reads both texts at once orders them anew.
"""

import copy
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import torch
import xxhash
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from ..errors import Errors
from ..types import Floats1d
from ..util import devices
from .bi_encoder import BiEncoder, fitting, unseen
from .directory import config_of, positions
from .loading import running
from .pairs import Pair, Pieces, Template
from .pooling import pool
from .tokens import rectangle

SETTINGS_FILE, HEAD_FILE = "medlink_cross_encoder.json", "medlink_head.safetensors"
_BATCH_PIECES = 4096
# A batch holds only pairs of the same length, rounded up, so that the other pairs of a batch do not
# change the arithmetic of a pair.
_STEP = 8
ACTIVATIONS = ("softmax", "softmax_nil", "sigmoid")


@dataclass(frozen=True)
class CrossSettings:
    """The settings for reading pairs and using their scores.

    max_length (int): length of a pair, in word pieces. context (int): word pieces on each side of
        the mention. reads (str): of a candidate: its "name", the "concept" with preferred name and
        types, or its "definition" too.
    activation (str): from logits to 0..1: "softmax" over the candidates of a mention,
        "softmax_nil" with an added logit of 0 for "none of them", or "sigmoid".
    weight (float): weight of these scores against those of retrieval, 0..1. top (int): the greatest
        number of candidates that are read.
    encoder, kb (str): fingerprints of the bi-encoder and the knowledge base that it was made for.
    """

    max_length: int = 96
    context: int = 16
    reads: str = "concept"
    activation: str = "softmax"
    weight: float = 0.5
    top: int = 25
    encoder: str = ""
    kb: str = ""


class PairScorer(torch.nn.Module):
    """The trained network: a transformer with a linear head.

    The head begins with zeros, so that without training no candidate is preferred.
    """

    def __init__(self, transformer: torch.nn.Module) -> None:
        super().__init__()
        self.transformer = transformer
        self.head = torch.nn.Linear(config_of(transformer).hidden_size, 1)
        torch.nn.init.zeros_(self.head.weight)
        torch.nn.init.zeros_(self.head.bias)


class CrossEncoder:
    """Scores pairs of a mention and a candidate.

    Scoring is deterministic and safe to call from threads, in the precision of BiEncoder.

    base (BiEncoder): tokenizer, transformer and pooling; the transformer is used as it is, not
    copied. head (Optional[Linear]): None for one of zeros. settings (CrossSettings): see there.
    """

    def __init__(
        self,
        base: BiEncoder,
        settings: CrossSettings = CrossSettings(),
        head: torch.nn.Linear | None = None,
    ) -> None:
        if settings.activation not in ACTIVATIONS:
            rule = f"must be one of {', '.join(ACTIVATIONS)}"
            raise Errors.bad_setting(name="activation", value=settings.activation, rule=rule)
        longest = positions(base.module.config) or settings.max_length
        limit = min(settings.max_length, int(base.tokenizer.model_max_length), longest)
        self.settings = replace(settings, max_length=limit)
        self.base = base
        self.module = devices.moved(PairScorer(base.module), base.device)
        if head is not None:
            self.module.head.load_state_dict(head.state_dict())
        self.module.eval()
        self._template = Template.of(base.tokenizer, limit, settings.context, base.preparation)
        self._has_types = int(getattr(base.module.config, "type_vocab_size", 1) or 1) > 1

    @classmethod
    def of(
        cls, encoder: BiEncoder, settings: CrossSettings, layers: int | None = None
    ) -> "CrossEncoder":
        """Begin with the weights of a bi-encoder, which stays as it is.

        layers (Optional[int]): take only this number of first layers.
        RAISES (MedlinkError): E302 for layers that it has not.
        """
        module = copy.deepcopy(encoder.module)
        if layers is not None:
            keep_layers(module, layers)
        return cls(encoder.over(module), replace(settings, encoder=encoder.fingerprint()))

    @classmethod
    def load(cls, directory: str | Path, device: torch.device = devices.CPU) -> "CrossEncoder":
        """Load what `save` wrote, to score on a device.

        RAISES (MedlinkError): E205 no such directory, E206 files that cannot be read.
        """
        path = Path(directory)
        base = BiEncoder.load(path, device=device)
        try:
            values = json.loads((path / SETTINGS_FILE).read_text("utf-8"))
            made = cls(base, CrossSettings(**values))
            made.module.head.load_state_dict(load_file(path / HEAD_FILE))
        except Exception as error:  # safetensors raises classes of its own
            raise Errors.encoder_damaged(path=path, reason=error) from error
        return made

    def save(self, directory: str | Path) -> None:
        """Write a Hugging Face directory (safetensors), head and settings beside.

        RAISES (OSError): when the disk is full.
        """
        path = Path(directory)
        self.base.save(path)
        head = {name: tensor.cpu() for name, tensor in self.module.head.state_dict().items()}
        try:
            save_file(head, path / HEAD_FILE)
        except SafetensorError as error:
            raise OSError(str(error)) from error
        text = json.dumps(asdict(self.settings), indent=2) + "\n"
        (path / SETTINGS_FILE).write_text(text, encoding="utf-8")

    def using(self, **changes: Any) -> "CrossEncoder":
        """Make one with other settings, over the same weights."""
        return CrossEncoder(self.base, replace(self.settings, **changes), self.module.head)

    def fingerprint(self) -> str:
        """Identify everything that the order depends on: weights, vocabulary and settings."""
        digest = xxhash.xxh3_128(self.base.fingerprint().encode())
        for _, tensor in sorted(self.module.head.state_dict().items()):
            digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
        digest.update(json.dumps(asdict(self.settings), sort_keys=True).encode())
        return digest.hexdigest()

    def score(self, pairs: Sequence[Pair], batch_pieces: int | None = None) -> Floats1d:
        """Score pairs; the higher the likelier.

        pairs (Sequence[Pair]): of any mentions. batch_pieces (Optional[int]): word pieces in a
            batch; None for what suits the device. Where memory does not suffice, batches are
            halved.
        RETURNS (Floats1d): logits, (n_pairs,), float32.
        RAISES (MedlinkError): E208 when the model gives scores that are not finite, E222 when it
            cannot run.
        """
        scores = np.zeros(len(pairs), dtype=np.float32)
        if not len(pairs):
            return scores
        pieces = self.tokenize(pairs)
        transformer = self.base.inference_module()
        size = batch_pieces or max(
            _BATCH_PIECES, devices.batch_pieces(self.base.device, self.base.dim)
        )
        lengths = [-(-len(pair.ids) // _STEP) * _STEP for pair in pieces]

        def run(rows: list[int]) -> torch.Tensor:
            return self._run(transformer, [pieces[row] for row in rows], lengths[rows[0]])

        with torch.inference_mode(), running():
            parts = list(fitting(run, batches(lengths, size), lengths))
            order = [row for rows, _ in parts for row in rows]
            scores[order] = devices.fetched(torch.cat([logits for _, logits in parts]))
        bad = np.flatnonzero(~np.isfinite(scores))
        if len(bad):
            raise Errors.vectors_not_finite(count=len(bad), first=int(bad[0]))
        return scores

    def tokenize(self, pairs: Sequence[Pair]) -> list[Pieces]:
        """Cut pairs into word pieces, special tokens included, at most max_length each."""
        return self._template.cut(pairs)

    def forward(self, pieces: Sequence[Pieces]) -> torch.Tensor:
        """Run the module on pairs, with gradients: logits (n,) on its device."""
        return self._run(self.base.module, pieces, max(len(pair.ids) for pair in pieces))

    def move(self, device: torch.device) -> "CrossEncoder":
        """Score on another device from now on. RETURNS itself."""
        self.base.move(device)
        devices.moved(self.module, device)
        return self

    def refresh(self) -> None:
        """Score with the current weights from now on; call it after replacing `param.data`."""
        self.base.refresh()

    def _run(
        self, transformer: torch.nn.Module, pieces: Sequence[Pieces], length: int
    ) -> torch.Tensor:
        base, device = self.base, self.base.device
        table = rectangle([ids for ids, _ in pieces], length, base.tokenizer.pad_token_id or 0)
        places, seconds = np.arange(length), np.array([second for _, second in pieces])
        mask = places < table[:, :1]
        columns = np.stack([table[:, 1:], mask & (places >= seconds[:, None]), mask])
        ids, types, mask = devices.sent(columns, device)
        more = {"token_type_ids": types} if self._has_types else {}
        seen = unseen(mask, transformer)
        output = transformer(input_ids=ids, attention_mask=seen, **more)
        vectors = pool(output, ids, mask, base.pooling, base.special)
        pooled = torch.nn.functional.normalize(vectors, dim=1)
        # Pooling scales to length 1; the head learns faster from numbers around 1.
        logits = self.module.head(pooled * pooled.shape[1] ** 0.5)
        return torch.as_tensor(logits).squeeze(1).float()


def batches(lengths: Sequence[int], size: int) -> list[list[int]]:
    """Group pairs of the same length, of at most so many word pieces: places, the longest first."""
    grouped = []
    order = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    for length, rows_of_length in groupby(order, key=lengths.__getitem__):
        rows, count = list(rows_of_length), max(1, size // length)
        grouped += [rows[start : start + count] for start in range(0, len(rows), count)]
    return grouped


def keep_layers(transformer: Any, count: int) -> None:
    """Cut off all layers but the first.

    RAISES (MedlinkError): E302 for layers that it has not.
    """
    layers = len(getattr(getattr(transformer, "encoder", None), "layer", ()))
    if not 1 <= count <= layers:
        rule = f"must be 1 to {layers}, the layers of the encoder"
        raise Errors.bad_setting(name="layers", value=count, rule=rule)
    transformer.encoder.layer = transformer.encoder.layer[:count]
    transformer.config.num_hidden_layers = count
