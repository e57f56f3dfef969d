"""The network of a shared encoder: to find it, and to read Docs with it."""

import copy
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import xxhash
from spacy.tokens import Doc, Span
from thinc.api import get_torch_default_device, xp2torch

from ..assets.manifest import ENCODER
from ..encoders.bi_encoder import BiEncoder
from ..encoders.loading import load_transformer
from ..encoders.pooling import PROJECTION_FILE, identity
from ..errors import Errors
from ..types import Floats2d
from ..util import devices
from .shared_encoder import SharedModel, encoder_of, listener_of, shim_of

if TYPE_CHECKING:
    from spacy.language import Language

    from ..assets import Assets

_LIKE = 0.01  # largest difference between two runs of a network, relative to the largest number


def current_encoder(
    model: SharedModel, nlp: "Language | None", name: str, saved: "Assets | None" = None
) -> BiEncoder:
    """Get the encoder over the current weights of the transformer that a model listens to.

    nlp (Optional[Language]): its pipeline; None where that is not known, for the transformer found
        before. name (str): of the component that listens, for messages.
    saved (Optional[Assets]): assets that were saved with the component.
    RAISES (MedlinkError): E225 when there is no transformer, or none with weights; E206 for saved
        files that cannot be read, or would run code.
    """
    shim = shim_of(model)
    transformer = own_transformer(model)
    if saved is not None and shim.projection is None:
        with saved.directory(ENCODER) as path:
            _load_saved(model, transformer, path)
    if transformer is not None and transformer.transformer is None:
        transformer.initialize()
    if transformer is not None or nlp is not None:
        shim.pipe = None if nlp is None else _heard(model, nlp)
    layer: Any = transformer or getattr(shim.pipe, "model", None)
    network = getattr(layer, "transformer", None)
    if network is None:
        raise Errors.no_transformer(name=name)
    if shim.encoder is None or shim.network is not network:
        projection = shim.projection or identity(network.config.hidden_size)
        tokenizer, length = _own_tokenizer(layer.tokenizer), model.attrs["max_length"]
        made = BiEncoder(tokenizer, _view(network), "mean", length, projection=projection)
        shim.set_encoder(made)
        shim.network = network
    return encoder_of(model)


def _load_saved(model: SharedModel, transformer: Any, directory: Path) -> None:
    """Read the saved parts of a shared encoder: all but the pipeline's transformer."""
    if (directory / PROJECTION_FILE).is_file():
        shim_of(model).from_bytes((directory / PROJECTION_FILE).read_bytes())
    if transformer is not None and transformer.transformer is None:
        from spacy_transformers.data_classes import HFObjects

        # The library's own function would load whatever the directory names.
        tokenizer, network = load_transformer(directory, attention=None)
        words = getattr(tokenizer, "vocab_file", None)
        saved = Path(words).read_bytes() if words else None
        network = devices.moved(network, get_torch_default_device())
        transformer.attrs["set_transformer"](transformer, HFObjects(tokenizer, network, saved))


def own_transformer(model: SharedModel) -> Any:
    """Get the transformer that `nlp.replace_listeners` has put in; None for a listener."""
    return next((node for node in model.walk() if "set_transformer" in node.attrs), None)


def has_moved(model: SharedModel, encoder: BiEncoder) -> bool:
    """Tell whether the weights have changed since the last call.

    They are summarised in less than a millisecond. A step of training changes all norms and biases,
    however the optimiser writes them; other writes into weights raise their version numbers.
    """
    shim = shim_of(model)
    parameters = list(encoder.module.parameters())
    small = torch.cat(
        [parameter.detach().flatten() for parameter in parameters if parameter.dim() == 1]
    )
    digest = xxhash.xxh3_128(devices.fetched(small.float()).data).digest()
    mark = sum(parameter._version for parameter in parameters), digest
    if mark == shim.mark:
        return False
    encoder.refresh()
    shim.mark, shim.has_checked = mark, False
    return True


def _states_of(model: SharedModel, doc: Doc) -> Any:
    """Get the vectors of the tokens of a Doc, (n_tokens, dim); 0 for tokens without word pieces.

    A Doc that the transformer has not read is read now, and does not change.
    """
    if own_transformer(model) is not None:
        return model.layers[0].predict([doc])[0]
    data = doc._.trf_data if Doc.has_extension("trf_data") else None
    return _aligned(model, _read(model, doc) if data is None else data)


def _check_reader(model: SharedModel, doc: Doc, name: str) -> bool:
    """Check that a Doc was read by the transformer of this model.

    RETURNS (bool): whether the Doc has data to check this. RAISES (MedlinkError): E227 if not.
    """
    written = doc._.trf_data if Doc.has_extension("trf_data") else None
    if own_transformer(model) is not None or written is None:
        return False
    ops: Any = model.ops
    was, now = (ops.to_numpy(_aligned(model, data)) for data in (written, _read(model, doc)))
    if was.shape != now.shape or np.abs(was - now).max() > _LIKE * np.abs(now).max():
        raise Errors.foreign_transformer(name=name)
    return True


def vectors_in_context(
    model: SharedModel, doc: Doc, spans: Sequence[Span], name: str
) -> list[bytes]:
    """Make the vectors of spans in the context of their Doc; b"" for spans without word pieces.

    name (str): of the component, for messages.
    RAISES (MedlinkError): E227 when another transformer has read the Doc, E208 for numbers that are
        not finite.
    """
    shim, encoder = shim_of(model), encoder_of(model)
    shim.has_checked = shim.has_checked or _check_reader(model, doc, name)
    states = _states_of(model, doc)
    sums = model.ops.xp.stack([states[span.start : span.end].sum(axis=0) for span in spans])
    with torch.inference_mode():
        pooled = torch.nn.functional.normalize(xp2torch(sums, device=encoder.device), dim=1)
        vectors: Floats2d = devices.fetched(encoder.projected(pooled))
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise Errors.vectors_not_finite(count=len(bad), first=int(bad[0]))
    return [row.tobytes() if row.any() else b"" for row in vectors]


def _heard(model: SharedModel, nlp: "Language") -> Any:
    """Find the component that a model listens to; None where there is none."""
    listener = listener_of(model)
    for _, pipe in nlp.components:
        listeners = chain.from_iterable(getattr(pipe, "listener_map", {}).values())
        if any(other is listener for other in listeners):
            return pipe
    return None


def _read(model: SharedModel, doc: Doc) -> Any:
    return shim_of(model).pipe.predict([doc]).doc_data[0]


def _aligned(model: SharedModel, data: Any) -> Any:
    """Pool word pieces to tokens, as the listener's own layer does: (n_tokens, dim)."""
    return model.layers[0].layers[-1].predict([data])[0]


def _own_tokenizer(tokenizer: Any) -> Any:
    """Copy a tokenizer, since spacy-transformers sets its own tokenizer to pad."""
    if not tokenizer.is_fast:
        reason = "its tokenizer is a slow one; let `tokenizer_config` say `use_fast = true`"
        raise Errors.encoder_damaged(path=tokenizer.name_or_path, reason=reason)
    copied = copy.deepcopy(tokenizer)
    copied.backend_tokenizer.no_truncation()
    copied.backend_tokenizer.no_padding()
    return copied


def _view(network: torch.nn.Module) -> torch.nn.Module:
    """Make a module with the same weights, but its own mode and dropout.

    thinc leaves the transformer in training mode, and switches it while other threads run.
    """
    weights = chain(network.parameters(), network.buffers())
    return copy.deepcopy(network, {id(weight): weight for weight in weights})
