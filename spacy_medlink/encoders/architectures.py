"""The registered architectures of encoders.

spaCy resolves architectures when a config names them, so this module stays light: torch and
transformers are imported when a model is made.
"""

from collections.abc import Callable
from typing import Any

from thinc.api import Model, torch2xp, xp2torch
from thinc.types import Floats2d

from ..errors import Errors
from .preparation import POOLING_RULE, POOLINGS


def transformer_bi_encoder(
    name: str | None, pooling: str | None = None, max_length: int | None = None
) -> Model[list[str], Floats2d]:
    """Make `spacy-medlink.TransformerBiEncoder.v1`: strings to vectors of length 1.

    The transformer is loaded at `initialize` (or from what was saved), not here, so that a saved
    pipeline needs neither the directory nor the Hub again.

    name (Optional[str]): directory with a Hugging Face model, or a name of the Hub. None for the
        encoder of the linker's assets, loaded to train it: until then nothing needs torch.
    pooling (Optional[str]): "mean" over word pieces, "mean_all" over special ones too, "cls" or
        "pooler".
    max_length (Optional[int]): in word pieces. None for what the directory says.
    RETURNS (Model[List[str], Floats2d]): the thinc model; `model.predict(texts)` is (n, dim).
    RAISES (MedlinkError): E302 unknown pooling.
    """
    if pooling is not None and pooling not in POOLINGS:
        raise Errors.bad_setting(name="pooling", value=pooling, rule=POOLING_RULE)
    if name is None and (pooling or max_length):
        rule = "must be null without a name: the encoder of the assets has its own"
        raise Errors.bad_setting(name="pooling, max_length", value=(pooling, max_length), rule=rule)
    attrs = {"name": name, "pooling": pooling, "max_length": max_length, "dropout_rate": 0.0}
    model: Model[list[str], Floats2d] = Model(
        "medlink_bi_encoder", _forward, init=_init, dims={"nO": None}, attrs=attrs
    )
    if name is not None:
        shim_of(model)
    return model


def shim_of(model: Model[Any, Any]) -> Any:
    """Get the shim of a model, made at the first use, since it imports torch."""
    if not model.shims:
        from .shim import BiEncoderShim

        model.shims.append(BiEncoderShim())
    return model.shims[0]


def follows_assets(model: Model[Any, Any] | None) -> bool:
    """Tell whether a model is the encoder of the assets, not one of its own."""
    return model is not None and model.attrs.get("name", "") is None


def encoder_of(model: Model[Any, Any]) -> Any:
    """Get the BiEncoder inside a model, loading it if that has not happened.

    RAISES (MedlinkError): E205 no such directory, E206 files that cannot be read.
    """
    shim = shim_of(model)
    if shim.encoder is None:
        settings = {
            name: model.attrs[name] for name in ("pooling", "max_length") if name in model.attrs
        }
        encoder = shim.loader.load(model.attrs["name"], device=shim.placed_on, **settings)
        shim.set_encoder(encoder)
        if not model.has_dim("nO"):
            model.set_dim("nO", encoder.dim)
    return shim.encoder


def _init(model: Model[Any, Floats2d], X: Any = None, Y: Any = None) -> None:  # noqa: N803  # thinc calls by these names
    encoder_of(model)


def _forward(
    model: Model[Any, Floats2d], inputs: list[Any], is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], list[Any]]]:
    """Encode texts, (n, dim)."""
    import torch

    from .adapters import dropping

    encoder, shim = encoder_of(model), shim_of(model)
    if not is_train or not inputs:
        return model.ops.asarray2f(shim.infer(inputs)), lambda gradient: []
    with torch.enable_grad(), dropping(encoder.module, model.attrs["dropout_rate"]):
        output = encoder.forward(encoder.tokenize(inputs)).view(len(inputs), -1)

    def backprop(gradient: Floats2d) -> list[Any]:
        torch.autograd.backward(output, xp2torch(gradient, device=output.device))
        return []

    return torch2xp(output.detach(), ops=model.ops), backprop  # type: ignore[return-value]  # of two dimensions
