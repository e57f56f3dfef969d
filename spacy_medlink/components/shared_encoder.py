"""A bi-encoder over the transformer of a pipeline: it reads mentions where they stand.

Names go through the same network, as short texts, and both through one projection.
"""

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from spacy.tokens import Doc, Span
from thinc.api import Model, torch2xp, xp2torch

from ..encoders.dropout import dropping
from ..encoders.projection import dumped, parsed
from ..encoders.shim import BiEncoderShim
from .shared_network import is_trained


class InContext(NamedTuple):
    """What a shared encoder is trained on.

    docs (Sequence[Doc]): all of a batch. spans (Sequence[Span]): mentions in them.
    texts (Sequence[str]): names; the vectors are those of the spans, then those of the texts.
    """

    docs: Sequence[Doc]
    spans: Sequence[Span] = ()
    texts: Sequence[str] = ()


def shared_bi_encoder(
    tok2vec: Model[list[Doc], list[Any]], max_length: int = 64
) -> Model[InContext, Any]:
    """Make `spacy-medlink.SharedBiEncoder.v1`: mentions where they stand, and names, to vectors.

    The network is the pipeline's `transformer` (spacy-transformers), trained together with what
    else listens to it; a projection is all that this adds.

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

    The transformer belongs to its component; `pipe` is that, once it is known.
    """

    def __init__(self, encoder: Any = None) -> None:
        super().__init__(encoder)
        self.pipe: Any = None
        self.network: Any = None  # the torch module that `encoder` has the weights of

    @property
    def projection(self) -> Any:
        """The projection, once there is one."""
        return self._model

    def set_encoder(self, encoder: Any) -> None:
        """Put an encoder in; it computes where the transformer does."""
        self.encoder = encoder.move(encoder.device)
        self._model = encoder.projection

    def place(self, device: Any) -> None:
        """Stay where the transformer is, whatever `device` is asked for."""

    def copy(self) -> "SharedShim":
        """Copy the projection; the transformer stays the same."""
        return _shim_of(self.to_bytes(), self.pipe)

    def to_bytes(self) -> bytes:
        """Write the projection; nothing before there is one."""
        return b"" if self._model is None else dumped(self._model)

    def from_bytes(self, bytes_data: bytes) -> "SharedShim":
        """Read what `to_bytes` wrote."""
        if bytes_data:
            self._model, self.encoder = parsed(bytes_data, "bytes"), None
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "SharedShim":
        return _shim_of(self.to_bytes(), copy.deepcopy(self.pipe, memo))

    def __reduce__(self) -> tuple[Callable[..., "SharedShim"], tuple[bytes, Any]]:
        return _shim_of, (self.to_bytes(), self.pipe)


def _forward(
    model: Model[InContext, Any], batch: InContext, is_train: bool
) -> tuple[Any, Callable[[Any], Any]]:
    """Encode mentions in context and names: (n_spans + n_texts, dim), rows of length 1."""
    shim: Any = model.shims[0]
    encoder, trained = shim.encoder, is_train and is_trained(model)
    states, back = model.layers[0](batch.docs, is_train)
    places = _places(batch)
    sums = [xp2torch(states[row][tokens].sum(axis=0)) for row, tokens in places]
    names = torch.empty(0, encoder.dim, device=encoder.device)
    rate = model.attrs["dropout_rate"] if is_train else 0.0
    with torch.set_grad_enabled(trained), dropping(encoder.module, rate):
        if batch.texts:
            names = encoder.pooled(encoder.module, encoder.tokenize(batch.texts))
    # Cut here: what comes before goes back on ways of its own.
    pooled = torch.cat([*(one[None] for one in sums), names.detach()]).requires_grad_()
    with torch.set_grad_enabled(is_train):
        output = encoder.projected(pooled)

    def backprop(gradient: Any) -> Any:
        torch.autograd.backward(output, xp2torch(gradient, device=output.device))
        slopes: Any = pooled.grad
        # Where no word piece was read, the sum is 0 and has no direction.
        slopes[~pooled.any(dim=1)] = 0
        d_states = [model.ops.xp.zeros_like(one) for one in states]
        for (row, tokens), own in zip(places, slopes, strict=False):
            d_states[row][tokens] += torch2xp(own)
        # Always, and before the names: other listeners wait for it, and in mixed precision the
        # transformer divides all gradients that its weights have by then.
        d_docs = back(d_states)
        if names.requires_grad:
            torch.autograd.backward(names, slopes[len(sums) :] * _grad_factor(model))
        return d_docs

    return torch2xp(output.detach(), ops=model.ops), backprop


def _places(batch: InContext) -> list[tuple[int, slice]]:
    """Say of each span which Doc it is in, and which tokens it has."""
    row_of = {id(doc): row for row, doc in enumerate(batch.docs)}
    return [(row_of[id(span.doc)], slice(span.start, span.end)) for span in batch.spans]


def _grad_factor(model: Model[Any, Any]) -> float:
    """Get by what the listener multiplies gradients: those of names are multiplied by it, too."""
    found = (node.attrs["grad_factor"] for node in model.walk() if "grad_factor" in node.attrs)
    return next(found, 1.0)


def _shim_of(data: bytes, pipe: Any) -> SharedShim:
    shim = SharedShim().from_bytes(data)
    shim.pipe = pipe
    return shim
