"""The network of a shared encoder: finding it, and reading Docs with it."""

import copy
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
import xxhash
from spacy.tokens import Doc, Span
from thinc.api import Model, xp2torch

from ..encoders.bi_encoder import BiEncoder
from ..encoders.projection import PROJECTION_FILE, identity
from ..errors import Errors
from ..types import Floats2d
from ..util import devices

_LIKE = 0.01  # how far two runs of one network may differ, relative to the largest number


def load_saved(model: Model[Any, Any], directory: Path) -> None:
    """Read what of a shared encoder was saved with its linker: all but the pipeline's transformer.

    RAISES (MedlinkError): E206 files that cannot be read.
    """
    shim: Any = model.shims[0]
    if (directory / PROJECTION_FILE).is_file():
        shim.from_bytes((directory / PROJECTION_FILE).read_bytes())
    own = own_transformer(model)
    if own is not None and own.transformer is None:
        from spacy_transformers.layers.transformer_model import huggingface_from_pretrained

        own.attrs["set_transformer"](own, huggingface_from_pretrained(directory, {}, {}))


def connect(model: Model[Any, Any], pipes: Iterable[Any] | None, name: str) -> BiEncoder:
    """Get the encoder over the weights of the transformer that a model listens to.

    pipes (Optional[Iterable[Any]]): components of the pipeline, of which one should be that
        transformer; None where it is not known, for the one that was found before.
    name (str): of the component that listens, for messages.
    RAISES (MedlinkError): E225 when there is no transformer, or none with weights.
    """
    shim: Any = model.shims[0]
    own = own_transformer(model)
    if own is not None and own.transformer is None:
        own.initialize()
    if own is not None or pipes is not None:
        shim.pipe = None if pipes is None else _heard(model, pipes)
    layer: Any = own or getattr(shim.pipe, "model", None)
    network = getattr(layer, "transformer", None)
    if network is None:
        raise Errors.no_transformer(name=name)
    if shim.encoder is None or shim.network is not network:
        projection = shim.projection or identity(network.config.hidden_size)
        tokenizer, length = _own_tokenizer(layer.tokenizer), model.attrs["max_length"]
        made = BiEncoder(tokenizer, _view(network), "mean", length, projection=projection)
        shim.set_encoder(made)
        shim.network = network
    encoder: BiEncoder = shim.encoder
    return encoder


def own_transformer(model: Model[Any, Any]) -> Any:
    """Get the transformer that `nlp.replace_listeners` has put in; None for one that listens."""
    return next((node for node in model.walk() if "set_transformer" in node.attrs), None)


def mark_of(encoder: BiEncoder) -> tuple[int, bytes]:
    """Summarise weights in less than a millisecond: another mark after each step of a training.

    A step moves all norms and biases, in whatever way an optimiser writes them; what else writes
    into weights raises their versions.
    """
    parameters = list(encoder.module.parameters())
    small = torch.cat([one.detach().flatten() for one in parameters if one.dim() == 1])
    digest = xxhash.xxh3_128(devices.fetched(small.float()).data).digest()
    return sum(one._version for one in parameters), digest


def _states_of(model: Model[Any, Any], doc: Doc) -> Any:
    """Get the vectors of the tokens of a Doc, (n_tokens, dim): 0 for what nothing was read of.

    A Doc that the transformer has not seen is read now, without being changed.
    """
    if own_transformer(model) is not None:
        return model.layers[0].predict([doc])[0]
    data = doc._.trf_data if Doc.has_extension("trf_data") else None
    return _aligned(model, _read(model, doc) if data is None else data)


def check_reader(model: Model[Any, Any], doc: Doc, name: str) -> bool:
    """Check that the transformer of a model is the one that has read a Doc.

    RETURNS (bool): whether the Doc could tell. RAISES (MedlinkError): E227.
    """
    known = doc._.trf_data if Doc.has_extension("trf_data") else None
    if own_transformer(model) is not None or known is None:
        return False
    ops: Any = model.ops
    was, now = (ops.to_numpy(_aligned(model, data)) for data in (known, _read(model, doc)))
    if was.shape != now.shape or np.abs(was - now).max() > _LIKE * np.abs(now).max():
        raise Errors.foreign_transformer(name=name)
    return True


def vectors_in_context(model: Model[Any, Any], doc: Doc, spans: Sequence[Span]) -> list[bytes]:
    """Make the vectors of spans of a Doc where they stand; b"" where nothing was read of one.

    RAISES (MedlinkError): E208 when the transformer gives numbers that are not finite.
    """
    shim: Any = model.shims[0]
    states = _states_of(model, doc)
    sums = model.ops.xp.stack([states[span.start : span.end].sum(axis=0) for span in spans])
    with torch.inference_mode():
        pooled = torch.nn.functional.normalize(xp2torch(sums, device=shim.encoder.device), dim=1)
        vectors: Floats2d = devices.fetched(shim.encoder.projected(pooled))
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise Errors.vectors_not_finite(count=len(bad), first=int(bad[0]))
    return [row.tobytes() if row.any() else b"" for row in vectors]


def is_trained(model: Model[Any, Any]) -> bool:
    """Tell whether the transformer takes part in this step: a frozen one sends nothing."""
    listener = _listener(model)
    return listener is None or listener._batch_id is not None


def _listener(model: Model[Any, Any]) -> Any:
    return next((node for node in model.walk() if hasattr(node, "upstream_name")), None)


def _heard(model: Model[Any, Any], pipes: Iterable[Any]) -> Any:
    """Find the component that a model listens to; None where there is none."""
    listener = _listener(model)
    for pipe in pipes:
        own = chain.from_iterable(getattr(pipe, "listener_map", {}).values())
        if any(one is listener for one in own):
            return pipe
    return None


def _read(model: Model[Any, Any], doc: Doc) -> Any:
    shim: Any = model.shims[0]
    return shim.pipe.predict([doc]).doc_data[0]


def _aligned(model: Model[Any, Any], data: Any) -> Any:
    """Pool word pieces to tokens, as the listener's own layer does: (n_tokens, dim)."""
    return model.layers[0].layers[-1].predict([data])[0]


def _own_tokenizer(tokenizer: Any) -> Any:
    """Copy a tokenizer: spacy-transformers lets its own one pad."""
    if not tokenizer.is_fast:
        reason = "its tokenizer is a slow one; let `tokenizer_config` say `use_fast = true`"
        raise Errors.encoder_damaged(path=tokenizer.name_or_path, reason=reason)
    own = copy.deepcopy(tokenizer)
    own._tokenizer.no_truncation()
    own._tokenizer.no_padding()
    return own


def _view(network: torch.nn.Module) -> torch.nn.Module:
    """Make a module of the same weights, which has a mode and a dropout of its own.

    thinc leaves the transformer in training mode, and switches it while other threads run.
    """
    weights = chain(network.parameters(), network.buffers())
    return copy.deepcopy(network, {id(one): one for one in weights})
