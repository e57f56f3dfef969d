"""The registered architectures of encoders.

spaCy resolves architectures when a config names them, so this module stays light: torch and
transformers are imported when a model is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import Errors

if TYPE_CHECKING:
    from thinc.api import Model
    from thinc.types import Floats2d

    from .bi_encoder import BiEncoder
    from .cross_encoder import CrossEncoder
    from .pairs import Pair


def transformer_bi_encoder(
    name: str, pooling: str = "mean", max_length: int = 64
) -> Model[list[str], Floats2d]:
    """Make `spacy-medlink.TransformerBiEncoder.v1`: strings to vectors of length 1.

    The transformer is loaded at `initialize` (or from what was saved), not here, so that a saved
    pipeline needs neither the directory nor the Hub again.

    name (str): directory with a Hugging Face model, or a name of the Hub.
    pooling (str): "mean" over word pieces, or "cls". max_length (int): in word pieces.
    RETURNS (Model[List[str], Floats2d]): the thinc model; `model.predict(texts)` is (n, dim).
    RAISES (MedlinkError): E207 unknown pooling.
    """
    from thinc.api import Model

    from .shim import BiEncoderShim

    if pooling not in ("mean", "cls"):
        raise Errors.bad_pooling(pooling=pooling)
    return Model(
        "medlink_bi_encoder",
        _forward,
        init=_init,
        dims={"nO": None},
        attrs={"name": name, "pooling": pooling, "max_length": max_length, "dropout_rate": 0.0},
        shims=[BiEncoderShim()],
    )


def encoder_of(model: Model[Any, Any]) -> BiEncoder:
    """Get the encoder inside a model, loading it if that has not happened.

    RAISES (MedlinkError): E205 no such directory, E206 files that cannot be read.
    """
    from .bi_encoder import BiEncoder

    shim: Any = model.shims[0]
    if shim.encoder is None:
        attrs = model.attrs
        loaded = BiEncoder.load(
            attrs["name"], attrs["pooling"], attrs["max_length"], shim.placed_on
        )
        shim.set_encoder(loaded)
        model.set_dim("nO", loaded.dim)
    encoder: BiEncoder = shim.encoder
    return encoder


def cross_encoder(name: str) -> Model[list[Pair], Floats2d]:
    """Make `spacy-medlink.CrossEncoder.v1`: pairs of a mention and a candidate to logits.

    name (str): directory that `python -m training.rerank` wrote (`reranker` of its assets); read
        at `initialize`, or when first needed.
    RETURNS (Model[List[Pair], Floats2d]): the thinc model; `model.predict(pairs)` is (n, 1).
    """
    from thinc.api import Model

    from .shim import CrossEncoderShim

    return Model(
        "medlink_cross_encoder",
        _score,
        init=_init_cross,
        dims={"nO": 1},
        attrs={"name": name, "dropout_rate": 0.0},
        shims=[CrossEncoderShim()],
    )


def cross_encoder_of(model: Model[Any, Any]) -> CrossEncoder:
    """Get the cross-encoder inside a model, loading it if that has not happened.

    RAISES (MedlinkError): E205 no such directory, E206 files that cannot be read.
    """
    from .cross_encoder import CrossEncoder

    shim: Any = model.shims[0]
    if shim.encoder is None:
        shim.set_encoder(CrossEncoder.load(model.attrs["name"], shim.placed_on))
    encoder: CrossEncoder = shim.encoder
    return encoder


def _init_cross(model: Model[list[Pair], Floats2d], X: Any = None, Y: Any = None) -> None:  # noqa: N803  # thinc calls by these names
    cross_encoder_of(model)


def _score(
    model: Model[list[Pair], Floats2d], pairs: list[Pair], is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], list[Pair]]]:
    import torch
    from thinc.api import torch2xp, xp2torch

    from .dropout import dropping

    encoder = cross_encoder_of(model)
    if not is_train or not pairs:
        scores = encoder.score(pairs).reshape(-1, 1)
        return model.ops.asarray2f(scores), lambda gradient: []  # type: ignore[arg-type]  # thinc has array types of its own
    with torch.enable_grad(), dropping(encoder.module, model.attrs["dropout_rate"]):
        output = encoder.forward(encoder.tokenize(pairs)).unsqueeze(1)

    def backprop(gradient: Floats2d) -> list[Pair]:
        torch.autograd.backward(output, xp2torch(gradient, device=output.device))
        return []

    return torch2xp(output.detach(), ops=model.ops), backprop  # type: ignore[return-value]  # of two dimensions


def _init(model: Model[list[str], Floats2d], X: Any = None, Y: Any = None) -> None:  # noqa: N803  # thinc calls by these names
    encoder_of(model)


def _forward(
    model: Model[list[str], Floats2d], texts: list[str], is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], list[str]]]:
    import torch
    from thinc.api import torch2xp, xp2torch

    from .dropout import dropping

    encoder = encoder_of(model)
    if not is_train or not texts:
        vectors = model.ops.asarray2f(encoder.encode(texts))  # type: ignore[arg-type]  # thinc has array types of its own
        return vectors, lambda gradient: []
    with torch.enable_grad(), dropping(encoder.module, model.attrs["dropout_rate"]):
        output = encoder.forward(encoder.tokenize(texts))

    def backprop(gradient: Floats2d) -> list[str]:
        torch.autograd.backward(output, xp2torch(gradient, device=output.device))
        return []

    return torch2xp(output.detach(), ops=model.ops), backprop  # type: ignore[return-value]  # of two dimensions
