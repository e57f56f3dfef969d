"""Exporting the encoder to ONNX Runtime, which needs no torch, and comparing the export with torch.

An export is refused if its vectors or first candidates differ from torch. An export in 8 bits is
used only if it is also faster on this processor.
"""

import copy
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import torch

from ..encoders.bi_encoder import BiEncoder
from ..encoders.preparation import POOLER
from ..encoders.runtime import FILE, ONNX, RuntimeEncoder
from ..errors import Errors, MedlinkError
from ..fitting.name_examples import name_examples
from ..kb import KnowledgeBase
from ..linking import Linker
from ..types import Data, Encoder, Floats2d, Mention
from ..util.devices import CPU, moved
from ..util.held import Held
from .quantised import quantise

# Largest changes by an export. Examples are harder than text: most are names with changed letters
# or words, or names without their own concept.
LEAST_COSINE = {"fp32": 0.999, "int8": 0.98}  # with torch in fp32, of any example
MAX_CHANGED = {"fp32": 0.005, "int8": 0.02}  # of the first candidates
_SAMPLE = 200  # concepts that give examples
_RUNS = 3
_PIECES = 1024  # in a batch of torch


class Checked(NamedTuple):
    """The comparison of an export with torch. speed (float): names a second."""

    precision: str
    least_cosine: float
    changed: float
    speed: float

    @property
    def problem(self) -> str:
        """The reason to refuse the export; "" if it is good."""
        least, most = LEAST_COSINE[self.precision], MAX_CHANGED[self.precision]
        if not self.least_cosine >= least:  # NaN, too
            return f"a vector has the cosine {self.least_cosine:.4f}, at least {least} is allowed"
        if self.changed > most:
            return f"{self.changed:.2%} of the first candidates change, {most:.1%} are allowed"
        return ""


def export(encoder: BiEncoder, linker: Linker, kb: KnowledgeBase, out: Path, saved: Path) -> Data:
    """Export an encoder, check it, and keep fp32 or int8: the faster one that links as torch does.

    linker (Linker): the default linker, with torch. kb (KnowledgeBase): its names are the examples.
    out (Path): directory to write. saved (Path): the encoder.
    RAISES (MedlinkError): E228 for an encoder that ONNX refuses, E228 for vectors or links
        that differ. (ImportError): a package is not installed.
    RETURNS (Dict): for the manifest: `name`, `precision` and the figures of the check.
    """
    texts = list(dict.fromkeys(example.text for example in name_examples(kb, _SAMPLE, 0)))
    vectors = encoder.run_batches(encoder.module, encoder.tokenize(texts), _PIECES)
    firsts = _firsts(linker, texts, encoder)
    with TemporaryDirectory(dir=out.parent, prefix=".export-") as work:
        made = exports(encoder, Path(work))
        encoders = {path.name: _opened(path, saved) for path in made}
        checked = [
            _check(exported, precision, linker, texts, vectors, firsts)
            for precision, exported in encoders.items()
        ]
        plain = checked[0]
        if plain.problem:
            reason = f"it would not link as it does in torch: {plain.problem}"
            raise Errors.export_refused(runtime=ONNX, reason=reason)
        best = max((check for check in checked if not check.problem), key=lambda check: check.speed)
        (Path(work) / best.precision).rename(out)
    return {
        "name": ONNX,
        "precision": best.precision,
        "least_cosine": round(best.least_cosine, 6),
        "changed": round(best.changed, 6),
        "examples": len(texts),
        "names_per_second": {check.precision: round(check.speed) for check in checked},
        "left_out": {check.precision: check.problem for check in checked if check.problem},
    }


def exports(encoder: BiEncoder, work: Path) -> list[Path]:
    """Write the exports into directories named after their precision."""
    plain, small = work / "fp32", work / "int8"
    try:
        for path in (plain, small):
            path.mkdir()
        _write_onnx(encoder, plain / FILE)
        quantise(plain / FILE, small / FILE)
    except (ImportError, MedlinkError):
        raise
    except Exception as error:  # torch's exporter and onnx have classes of their own
        reason = str(error).strip().partition("\n")[0]
        raise Errors.export_refused(runtime=ONNX, reason=reason) from error
    return [plain, small]


def _opened(export: Path, saved: Path) -> RuntimeEncoder:
    try:
        return RuntimeEncoder(Held(export), Held(saved))
    except MedlinkError as error:
        raise Errors.export_refused(runtime=ONNX, reason=error.message) from error


def _write_onnx(encoder: BiEncoder, path: Path) -> None:
    """Write the network up to the pooled vectors of length 1 as ONNX."""

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder.over(moved(copy.deepcopy(encoder.module), CPU).float())
            self.module = self.encoder.module

        def forward(
            self, ids: torch.Tensor, mask: torch.Tensor, weights: torch.Tensor
        ) -> torch.Tensor:
            output = self.module(input_ids=ids, attention_mask=mask)
            hidden = output.last_hidden_state
            if self.encoder.pooling == POOLER:  # of [CLS], which alone has a weight
                hidden = output.pooler_output.unsqueeze(1).expand_as(hidden)
            # An encoder without layers does not read the mask; the product keeps it as an input.
            pooled = (hidden * (weights * mask).unsqueeze(-1)).sum(dim=1)
            return self.encoder.projected(torch.nn.functional.normalize(pooled, dim=1))

    ids = torch.tensor([[1, 2, 3, 4], [1, 2, 3, 0]])
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
    any_size = {0: "texts", 1: "length"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constants: other lengths are checked after the export
        torch.onnx.export(
            Network().eval(), (ids, mask, mask.float()), str(path), dynamo=False,
            input_names=["ids", "mask", "weights"], output_names=["vectors"],
            dynamic_axes={"ids": any_size, "mask": any_size, "weights": any_size,
                          "vectors": {0: "texts"}},
            opset_version=17,
        )  # fmt: skip


def _check(
    encoder: RuntimeEncoder,
    precision: str,
    linker: Linker,
    texts: Sequence[str],
    vectors: Floats2d,
    firsts: Sequence[int],
) -> Checked:
    took = []
    for _ in range(_RUNS):
        began = time.perf_counter()
        encoded = encoder.encode(texts)
        took.append(time.perf_counter() - began)
    cosine = float(np.einsum("nd,nd->n", encoded, vectors).min())
    changed = np.mean(np.not_equal(_firsts(linker, texts, encoder), firsts))
    return Checked(precision, cosine, float(changed), len(texts) / min(took))


def _firsts(linker: Linker, texts: Sequence[str], encoder: Encoder) -> list[int]:
    """Find the concept row of the first candidate of each text, -1 for none."""
    asked = linker.with_parts(encoder=encoder).using(exact_first=False)
    decisions = asked.decide([Mention(text) for text in texts])
    return [decision.ranking[0].row if decision.ranking else -1 for decision in decisions]
