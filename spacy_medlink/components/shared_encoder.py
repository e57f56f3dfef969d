"""A bi-encoder over the transformer of a pipeline: it reads mentions in their context.

Names go through the same network as short texts. Mentions and names share one projection.
"""

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from spacy.tokens import Doc, Span
from thinc.api import Model, torch2xp, xp2torch

from ..encoders.adapters import dropping
from ..encoders.bi_encoder import BiEncoder
from ..encoders.pooling import dumped, parsed
from ..encoders.shim import BiEncoderShim

SharedModel = Model["InContext", Any]


class InContext(NamedTuple):
    """The input of a shared encoder in training.

    docs (Sequence[Doc]): all Docs of a batch. spans (Sequence[Span]): mentions in the Docs.
    texts (Sequence[str]): names. The output has the vectors of the spans, then of the texts.
    """

    docs: Sequence[Doc]
    spans: Sequence[Span] = ()
    texts: Sequence[str] = ()


def shared_bi_encoder(tok2vec: Model[list[Doc], list[Any]], max_length: int = 64) -> SharedModel:
    """Make `spacy-medlink.SharedBiEncoder.v1`: mentions where they stand, and names, to vectors.

    The network is the pipeline's `transformer` (spacy-transformers), trained together with its
    other listeners. This function adds only a projection.

    tok2vec (Model): `spacy-transformers.TransformerListener.v1`; with `reduce_sum.v1` as pooling a
        mention is the mean of its word pieces, as a name is.
    max_length (int): of names, in word pieces.
    RETURNS (Model[InContext, Floats2d]): the thinc model; it is connected when first used.
    """
    attrs = {"shared": True, "max_length": max_length, "dropout_rate": 0.0}
    return Model(
        "medlink_shared_bi_encoder", _forward, layers=[tok2vec], attrs=attrs, shims=[SharedShim()]
    )


class SharedShim(BiEncoderShim):
    """The projection of a shared encoder, which is trained here, and the encoder itself.

    The transformer belongs to its own component; `pipe` is that component, once it is known.
    """

    def __init__(self, encoder: BiEncoder | None = None) -> None:
        super().__init__(encoder)
        self.pipe: Any = None
        self.network: torch.nn.Module | None = None  # that `encoder` has the weights of
        self.mark: tuple[int, bytes] | None = None  # of the weights, when they were last looked at
        self.has_checked = False  # whether these weights have read the documents

    @property
    def projection(self) -> torch.nn.Linear | None:
        """The projection, once there is one."""
        projection: torch.nn.Linear | None = self._model
        return projection

    def set_encoder(self, encoder: BiEncoder) -> None:
        """Set the encoder; it computes on the device of the transformer."""
        self.encoder = encoder.move(encoder.device)
        self._model = encoder.projection

    def place(self, device: torch.device) -> None:
        """Stay on the device of the transformer; `device` is ignored."""

    def copy(self) -> "SharedShim":
        """Copy the projection; the transformer stays the same."""
        return _shim_of(self.to_bytes(), self.pipe)

    def to_bytes(self) -> bytes:
        """Write the projection; b"" without one."""
        return b"" if self._model is None else dumped(self._model)

    def from_bytes(self, bytes_data: bytes) -> "SharedShim":
        """Read the projection that `to_bytes` wrote."""
        if bytes_data:
            self._model, self.encoder = parsed(bytes_data, "bytes"), None
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> "SharedShim":
        return _shim_of(self.to_bytes(), copy.deepcopy(self.pipe, memo))

    def __reduce__(self) -> tuple[Callable[..., "SharedShim"], tuple[bytes, Any]]:
        return _shim_of, (self.to_bytes(), self.pipe)


def _forward(
    model: SharedModel, batch: InContext, is_train: bool
) -> tuple[Any, Callable[[Any], Any]]:
    """Encode mentions in context and names: (n_spans + n_texts, dim), rows of length 1."""
    encoder, trained = encoder_of(model), is_train and is_trained(model)
    states, back = model.layers[0](batch.docs, is_train)
    places = _places(batch)
    sums = [xp2torch(states[row][tokens].sum(axis=0)) for row, tokens in places]
    names = torch.empty(0, encoder.dim, device=encoder.device)
    rate = model.attrs["dropout_rate"] if is_train else 0.0
    with torch.set_grad_enabled(trained), dropping(encoder.module, rate):
        if batch.texts:
            names = encoder.pooled(encoder.module, encoder.tokenize(batch.texts))
    # Detached here: the transformer and the names have backward passes of their own.
    pooled = torch.cat([*(vector[None] for vector in sums), names.detach()]).requires_grad_()
    with torch.set_grad_enabled(is_train):
        output = encoder.projected(pooled)

    def backprop(gradient: Any) -> Any:
        torch.autograd.backward(output, xp2torch(gradient, device=output.device))
        slopes: Any = pooled.grad
        # A span without word pieces has the sum 0, which has no direction.
        slopes[~pooled.any(dim=1)] = 0
        d_states = [model.ops.xp.zeros_like(state) for state in states]
        for (row, tokens), slope in zip(places, slopes, strict=False):
            d_states[row][tokens] += torch2xp(slope)
        # Always, and before the names: other listeners wait for this call, and in mixed precision
        # the transformer divides all gradients that its weights have at that moment.
        d_docs = back(d_states)
        if names.requires_grad:
            torch.autograd.backward(names, slopes[len(sums) :] * _grad_factor(model))
        return d_docs

    return torch2xp(output.detach(), ops=model.ops), backprop


def _places(batch: InContext) -> list[tuple[int, slice]]:
    """Return the Doc of each span, by number, and its tokens, as a slice."""
    row_of = {id(doc): row for row, doc in enumerate(batch.docs)}
    return [(row_of[id(span.doc)], slice(span.start, span.end)) for span in batch.spans]


def shim_of(model: SharedModel) -> SharedShim:
    """Get the shim of a shared encoder."""
    shim = model.shims[0]
    assert isinstance(shim, SharedShim)
    return shim


def encoder_of(model: SharedModel) -> BiEncoder:
    """Get the encoder of a model that is connected."""
    encoder: BiEncoder = shim_of(model).encoder
    return encoder


def is_trained(model: SharedModel) -> bool:
    """Tell whether the transformer is trained in this step: a frozen one sends no gradients."""
    listener = listener_of(model)
    return listener is None or listener._batch_id is not None


def listener_of(model: SharedModel) -> Any:
    """Get the listener of a model; None where `nlp.replace_listeners` has taken it out."""
    return next((node for node in model.walk() if hasattr(node, "upstream_name")), None)


def _grad_factor(model: SharedModel) -> float:
    """Get the factor of the listener's gradients, which applies to the names' gradients, too."""
    factors = (node.attrs["grad_factor"] for node in model.walk() if "grad_factor" in node.attrs)
    return next(factors, 1.0)


def _shim_of(data: bytes, pipe: Any) -> SharedShim:
    shim = SharedShim().from_bytes(data)
    shim.pipe = pipe
    return shim
