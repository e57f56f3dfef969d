"""BiEncoder: a Hugging Face transformer that turns names and mentions into vectors (no spaCy)."""

import copy
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import numpy as np
import torch
import xxhash
from safetensors.torch import save_file

from ..errors import Errors
from ..types import Data, Floats2d
from ..util import devices
from ..util.devices import has_native_bf16
from ..util.locks import ForkSafeLock
from ..util.setting_types import is_weight
from ..util.threads import side_by_side, threads
from .adapters import adapter_reduction, divided, load_adapters
from .directory import config_of, positions, read_json, refused
from .loading import load_transformer, running
from .place import directory_of
from .pooling import PROJECTION_FILE, dumped, has_pooler, pool, read_projection
from .preparation import AS_IT_IS, MEAN, POOLER, POOLING_RULE, POOLINGS, Preparation
from .sentence import read_sentence_settings
from .tokens import (
    SPECIAL_TOKENS,
    FastTokenizer,
    batches_of,
    cut,
    rectangle,
    special_ids,
)

SETTINGS_FILE = "medlink_encoder.json"
ADAPTERS_FILE = "medlink_adapters.safetensors"
_SHARE = 128  # word pieces that are worth a thread
_ASKING = ("bert", "roberta", "xlm-roberta", "camembert")  # models; see `unseen`


class BiEncoder:
    """Encodes strings one by one, so that mention and name meet as vectors (hence bi-encoder).

    Encoding is deterministic and safe to call from threads: the module is pinned to evaluation
    mode, strings are sorted by length so that little is padded, and bf16 is used where the
    processor computes it natively.

    tokenizer (PreTrainedTokenizerFast): the model's own. module (torch.nn.Module): transformer.
    pooling (str): "mean" over the words' pieces (special tokens left out), "mean_all" over all,
        "cls", or "pooler" for what the transformer's own pooler makes of [CLS].
    max_length (int): in word pieces, within the model's limit; longer texts are cut.
    preparation (Preparation): changes to texts before they are cut into pieces.
    projection (Optional[Linear]): last layer over the vectors, where the module is shared.
    sparse_weight (Optional[float]): weight of the sparse score beside the cosine, where training
        has learned it (BioSyn); a build uses it for the fusion.
    """

    def __init__(
        self,
        tokenizer: FastTokenizer,
        module: torch.nn.Module,
        pooling: str = "mean",
        max_length: int = 64,
        preparation: Preparation = AS_IT_IS,
        projection: torch.nn.Linear | None = None,
    ) -> None:
        if pooling not in POOLINGS:
            raise Errors.bad_setting(name="pooling", value=pooling, rule=POOLING_RULE)
        if pooling == POOLER and not has_pooler(module):
            rule = "must be another one for a model without weights of a pooler, such as 'cls'"
            raise Errors.bad_setting(name="pooling", value=pooling, rule=rule)
        self.tokenizer = tokenizer
        self.module = module.eval()
        self.sparse_weight: float | None = None
        self.pooling = pooling
        longest = positions(module.config) or tokenizer.model_max_length
        self.max_length = min(max_length, int(longest), int(tokenizer.model_max_length))
        self.preparation, self.projection = preparation, projection
        self._fast: tuple[int, torch.nn.Module] | None = None
        self._lock = ForkSafeLock()
        self.special = torch.tensor(special_ids(tokenizer), device=self.device)

    @classmethod
    def load(
        cls,
        source: str | Path,
        pooling: str | None = None,
        max_length: int | None = None,
        device: torch.device = devices.CPU,
        stays: bool = False,
    ) -> "BiEncoder":
        """Load from a directory, or from the Hugging Face Hub by name.

        source (str): a directory with config.json and weights as safetensors, or a Hub name.
        pooling, max_length: default to what the directory says, as it was saved here or by
            sentence-transformers, else "mean" and 64.
        device (torch.device): the device for encoding, as `util.devices` finds it.
        stays (bool): stay on the processor until `move`; the fingerprint is faster there.
        RAISES (MedlinkError): E205 no such directory, E206 files that cannot be read or would run
            code, or name a pooling that is not supported; E302 another pooling, or "pooler" for a
            model without one.
        """
        directory = directory_of(source)
        saved = _read_settings(directory)
        own_pooling = str(saved.get("pooling", MEAN))
        if not pooling and own_pooling not in POOLINGS:
            raise refused(
                directory,
                f"its pooling is {own_pooling!r}, and only {', '.join(POOLINGS)} are supported. "
                "Take a model that was trained with one of these. (`--pooling` loads this one with "
                "another pooling than its own, so its vectors are worse)",
            )
        tokenizer, module = load_transformer(directory, devices.attention_for(device))
        length = max_length or saved.get("max_length", 64)
        if type(length) is not int:
            raise refused(directory, f"max_length is {length!r}")
        if reduction := saved.get("adapter_reduction"):
            if type(reduction) is not int:
                raise refused(directory, f"adapter_reduction is {reduction!r}")
            load_adapters(module, directory / ADAPTERS_FILE, reduction)
        projection = read_projection(directory) if saved.get("projected") else None
        made = cls(
            tokenizer,
            module,
            pooling or own_pooling,
            length,
            Preparation.of(saved),
            projection,
        )
        made.sparse_weight = saved.get("sparse_weight")
        if made.sparse_weight is not None and not is_weight(made.sparse_weight):
            raise refused(directory, f"sparse_weight is {made.sparse_weight!r}")
        return made if stays else made.move(device)

    @property
    def is_static(self) -> bool:
        """Tell whether it has no layers, so that linking needs no torch."""
        config = config_of(self.module)
        is_bert = getattr(config, "model_type", "") == "bert" and self.projection is None
        is_bert &= self.pooling != POOLER
        return is_bert and config.num_hidden_layers == 0

    def over(self, module: torch.nn.Module) -> "BiEncoder":
        """Make an encoder with another module and the same other parts."""
        return BiEncoder(
            self.tokenizer, module, self.pooling, self.max_length, self.preparation, self.projection
        )

    def save(self, directory: str | Path) -> None:
        """Write an ordinary Hugging Face directory (safetensors), with the other settings beside.

        Adapters go into a file of their own; whatever loads the directory else gets the base.
        RAISES (OSError): when the disk is full.
        """
        path, reduction = Path(directory), adapter_reduction(self.module)
        base, adapters = divided(self.module.state_dict())
        try:
            self.module.save_pretrained(path, state_dict=base, safe_serialization=True)  # type: ignore[operator]  # transformers has it
            if adapters:
                adapters = {name: tensor.contiguous() for name, tensor in adapters.items()}
                save_file(adapters, path / ADAPTERS_FILE)
        except Exception as error:  # safetensors says "disk full" with a class of its own
            raise OSError(str(error)) from error
        tokenizer: Any = self.tokenizer  # that `transformers` has loaded
        tokenizer.save_pretrained(path)
        special = path / SPECIAL_TOKENS
        if not special.exists():  # transformers 5 has them in tokenizer_config.json
            special.write_text(json.dumps(tokenizer.special_tokens_map), encoding="utf-8")
        settings: Data = {"pooling": self.pooling, "max_length": self.max_length}
        settings |= self.preparation.as_settings()
        if reduction:
            settings["adapter_reduction"] = reduction
        if self.sparse_weight is not None:
            settings["sparse_weight"] = self.sparse_weight
        if self.projection is not None:
            settings["projected"] = True
            (path / PROJECTION_FILE).write_bytes(dumped(self.projection))
        (path / SETTINGS_FILE).write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")

    @property
    def dim(self) -> int:
        """Number of dimensions of the vectors."""
        if self.projection is not None:
            return self.projection.out_features
        return int(config_of(self.module).hidden_size)

    @property
    def device(self) -> torch.device:
        """The device of the module."""
        return devices.device_of(self.module)

    def move(self, device: torch.device) -> "BiEncoder":
        """Encode on another device from now on. RETURNS itself."""
        devices.moved(self.module, device)
        if self.projection is not None:
            devices.moved(self.projection, device)
        self.special = devices.moved(self.special, device)
        self.refresh()
        return self

    def fingerprint(self) -> str:
        """Identify everything that the vectors depend on: weights, vocabulary and settings."""
        return fingerprint_of(self, self.module.state_dict().items())

    def encode(self, texts: Sequence[str], batch_pieces: int | None = None) -> Floats2d:
        """Encode strings.

        texts (Sequence[str]): any strings; an empty one gets a valid vector too.
        batch_pieces (Optional[int]): word pieces in a batch, padding included; None for what suits
            the device. Where memory does not suffice, batches are halved.
        RETURNS (Floats2d): (n_texts, dim), float32, rows of length 1.
        RAISES (MedlinkError): E208 when the model gives vectors that are not finite, E222 when it
            cannot run.
        """
        if not texts:
            return np.empty((0, self.dim), dtype=np.float32)
        # Children do not crowd each other out.
        if parent_process() is not None and torch.get_num_threads() > 1:
            torch.set_num_threads(1)
        pieces = self.tokenize(texts)
        module = self.inference_module()
        size = batch_pieces or devices.batch_pieces(self.device, self.dim)
        with running():
            vectors = self.run_batches(module, pieces, size)
        bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(bad):
            raise Errors.vectors_not_finite(count=len(bad), first=int(bad[0]))
        return vectors

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Cut strings into word-piece ids, special tokens included, at most max_length each."""
        return cut(self.tokenizer, self.preparation, texts, self.max_length)

    def forward(self, pieces: Sequence[Sequence[int]]) -> torch.Tensor:
        """Run the module on word-piece ids: (n, dim) on its device, rows of length 1."""
        return self.projected(self.pooled(self.module, pieces))

    def projected(self, vectors: torch.Tensor) -> torch.Tensor:
        """Project vectors, (n, dim), if there is a projection; rows keep the length 1."""
        if self.projection is None:
            return vectors
        return torch.nn.functional.normalize(self.projection(vectors), dim=1)

    def run_batches(
        self, module: torch.nn.Module, pieces: Sequence[Sequence[int]], size: int
    ) -> Floats2d:
        """Run a module over word-piece ids in batches, without gradients: (n, dim), float32.

        size (int): word pieces in a batch; halved whenever the device runs out of memory.
        """
        vectors = np.empty((len(pieces), self.dim), dtype=np.float32)
        lengths = list(map(len, pieces))

        def encode(rows: list[int]) -> torch.Tensor:
            return self.projected(self.pooled(module, [pieces[row] for row in rows]))

        def run(batches: list[list[int]]) -> None:
            with torch.inference_mode():
                parts = list(fitting(encode, batches, lengths))
                # Fetched once: waiting for every batch would leave a GPU idle between them.
                order = [row for rows, _ in parts for row in rows]
                vectors[order] = devices.fetched(torch.cat([output for _, output in parts]).float())

        workers = self._workers(pieces)
        if workers > 1:
            share = -(-sum(lengths) // workers)
            side_by_side(run, [[rows] for rows in batches_of(pieces, min(size, share))], workers)
        elif len(pieces):
            run(batches_of(pieces, size))
        return vectors

    def refresh(self) -> None:
        """Encode with the current weights from now on; call it after replacing `param.data`."""
        with self._lock:
            self._fast = None

    def halve(self) -> None:
        """Keep only the weights for encoding: bf16 where it is native. For inference only.

        Saving, training and the fingerprint need the full weights: call this after them.
        """
        self.module = self.inference_module()

    def _workers(self, pieces: Sequence[Sequence[int]]) -> int:
        """Count the threads that encode side by side; a GPU needs one, and so do few pieces."""
        if self.device.type != "cpu":
            return 1
        return min(threads(), torch.get_num_threads(), sum(map(len, pieces)) // _SHARE)

    def pooled(self, module: torch.nn.Module, pieces: Sequence[Sequence[int]]) -> torch.Tensor:
        """Run a module on word-piece ids, without projection: (n, dim), rows of length 1."""
        return torch.nn.functional.normalize(self.pooled_freely(module, pieces), dim=1)

    def pooled_freely(
        self, module: torch.nn.Module, pieces: Sequence[Sequence[int]]
    ) -> torch.Tensor:
        """Run a module on word-piece ids, without projection: (n, dim), rows of any length."""
        ids, mask = pad(pieces, self.tokenizer.pad_token_id or 0, self.device, self.max_length)
        output = module(input_ids=ids, attention_mask=unseen(mask, module))
        return pool(output, ids, mask, self.pooling, self.special)

    def inference_module(self) -> torch.nn.Module:
        """Get the module in the precision that encodes fastest, made anew after a training step.

        Weights are converted once: autocast would convert them in every batch, which took two
        thirds of the time of a layer.
        """
        if not has_native_bf16(self.device):
            return self.module
        # A change in place raises a parameter's version; where it does not, as with the step of a
        # fused optimiser, `refresh` has to be called.
        version = sum(parameter._version for parameter in self.module.parameters())
        with self._lock:
            if self._fast is None or self._fast[0] != version:
                module = self.module
                if next(module.parameters()).dtype != torch.bfloat16:
                    module = copy.deepcopy(module).bfloat16().eval().requires_grad_(False)
                self._fast = (version, module)
            return self._fast[1]


def fitting(
    run: Callable[[list[int]], torch.Tensor], batches: Sequence[list[int]], lengths: Sequence[int]
) -> Iterator[tuple[list[int], torch.Tensor]]:
    """Run a network on batches, all of them in halves from where the device runs out of memory.

    batches (Sequence[List[int]]): places of texts, the longest first. lengths (Sequence[int]): of
        the texts, in word pieces. RETURNS: places, and what the network makes of their texts.
    """
    size, waiting = sys.maxsize, [*reversed(batches)]
    while waiting:
        rows = waiting.pop()
        count = max(1, size // lengths[rows[0]])
        if count < len(rows):
            waiting += [rows[count:], rows[:count]]
            continue
        try:
            output = run(rows)
        except (RuntimeError, MemoryError) as error:
            if len(rows) == 1 or not devices.is_out_of_memory(error):
                raise
            size = len(rows) // 2 * lengths[rows[0]]
            devices.free_memory()
            waiting.append(rows)
            continue
        yield rows, output


def fingerprint_of(encoder: BiEncoder, weights: Iterable[tuple[str, torch.Tensor]]) -> str:
    """Identify an encoder with these full weights; see BiEncoder.fingerprint."""
    digest = xxhash.xxh3_128()
    for name, tensor in sorted(weights, key=lambda item: item[0]):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().data)
    vocabulary = encoder.tokenizer.get_vocab()
    digest.update(json.dumps(sorted(vocabulary.items(), key=lambda item: item[1])).encode())
    digest.update(f"{encoder.pooling} {encoder.max_length}".encode())
    if encoder.preparation:
        settings = json.dumps(encoder.preparation.as_settings(), sort_keys=True)
        digest.update(settings.encode("utf-8", "surrogatepass"))
    if encoder.projection is not None:
        digest.update(dumped(encoder.projection))
    return digest.hexdigest()


def pad(
    pieces: Sequence[Sequence[int]], pad_id: int, device: torch.device = devices.CPU, most: int = 0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Pad id lists to a rectangle, and send it to a device in one transfer.

    most (int): the module's greatest length; a GPU may get padding up to it.
    RETURNS (Tuple[Tensor, Tensor]): ids and attention mask, each (n, longest), int64.
    """
    width = devices.padded_length(max(map(len, pieces)), most, device)
    both = devices.sent(rectangle(pieces, width, pad_id), device)
    ids = both[:, 1:]
    mask = torch.arange(ids.shape[1], device=ids.device) < both[:, :1]
    return ids, mask.long()


def unseen(mask: torch.Tensor, module: torch.nn.Module) -> torch.Tensor:
    """Give an attention mask, (n, length), a shape whose values `transformers` does not read.

    With fused attention, `transformers` tests whether a mask of two dimensions is all 1. On a GPU,
    this waits for all computations before. A mask (n, 1, length) is not tested.
    """
    config = module.config
    fused = getattr(config, "_attn_implementation", "") == "sdpa"
    if mask.is_cpu or not fused or getattr(config, "model_type", "") not in _ASKING:
        return mask
    return mask[:, None]


def says_pooling(source: str | Path) -> bool:
    """Tell whether a model's directory says its pooling.

    RAISES (MedlinkError): E206 where what it says cannot be read.
    """
    return "pooling" in _read_settings(Path(source))


def _read_settings(directory: Path) -> Data:
    """Read how an encoder prepares texts: as it was saved here, or by sentence-transformers."""
    if not (directory / SETTINGS_FILE).exists():
        return read_sentence_settings(directory)
    settings = read_json(directory, SETTINGS_FILE)
    if not isinstance(settings, dict):
        raise refused(directory, f"{SETTINGS_FILE} is not an object")
    return settings


# OpenMP's threads do not survive a fork: with more than one, any forked child (of a web server
# too, which is no `multiprocessing` child) hangs at its first batch once the parent has encoded.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=partial(torch.set_num_threads, 1))
