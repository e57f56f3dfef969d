"""BiEncoderShim: a BiEncoder inside a thinc model, saved without pickle."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import srsly
import torch
from thinc.api import PyTorchShim

from ..types import Floats2d
from ..util import devices
from .bi_encoder import BiEncoder


class BiEncoderShim(PyTorchShim):
    """The interface between thinc and a BiEncoder's torch module.

    It inherits the optimiser's work on the module's parameters; bytes are the files of an ordinary
    Hugging Face directory (safetensors), where the parent would pickle the weights.
    """

    loader: ClassVar[type[BiEncoder]] = BiEncoder

    def __init__(self, encoder: Any = None) -> None:
        super().__init__(encoder.module if encoder else None)
        self.placed_on = devices.find_device(devices.spacy_device())
        self.encoder: Any = None
        if encoder is not None:
            self.set_encoder(encoder)

    def set_encoder(self, encoder: Any) -> None:
        """Put a loaded encoder in, and move it to where the shim computes."""
        self.encoder = encoder.move(self.placed_on)
        self._model = encoder.module

    def infer(self, texts: list[str]) -> Floats2d:
        """Encode texts: (n, dim)."""
        vectors: Floats2d = self.encoder.encode(texts)
        return vectors

    def place(self, device: torch.device) -> None:
        """Compute on another device than where spaCy did when this was made."""
        self.placed_on = device
        if self.encoder is not None:
            self.encoder.move(device)

    def to_device(self, device_type: str, device_id: int) -> None:
        """Compute where a thinc model is moved: "cpu", "gpu" or "mps"; an encoder moves whole."""
        name = f"cuda:{device_id}" if device_type == "gpu" else device_type
        self.place(devices.find_device(name))

    def finish_update(self, optimizer: Any) -> None:
        """Let the optimiser change the weights, and encode with the changed ones from now on."""
        super().finish_update(optimizer)
        if self.encoder is not None:
            self.encoder.refresh()

    def copy(self) -> "BiEncoderShim":
        """Copy weights and all, through bytes."""
        return type(self)().from_bytes(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Write the files of the encoder's directory; empty before it is loaded."""
        files: dict[str, bytes] = {}
        if self.encoder is not None:
            with TemporaryDirectory() as directory:
                self.encoder.save(directory)
                for file in sorted(Path(directory).iterdir()):
                    files[file.name] = file.read_bytes()
        data: bytes = srsly.msgpack_dumps(files)
        return data

    def from_bytes(self, bytes_data: bytes) -> "BiEncoderShim":
        """Read what `to_bytes` wrote."""
        files: dict[str, bytes] = srsly.msgpack_loads(bytes_data)
        if files:
            with TemporaryDirectory() as directory:
                for name, content in files.items():
                    # Names only: a path in foreign bytes must not write elsewhere.
                    (Path(directory) / Path(name).name).write_bytes(content)
                self.set_encoder(self.loader.load(directory))
        return self

    def __reduce__(self) -> tuple[Callable[..., "BiEncoderShim"], tuple[Any, bytes]]:
        return _from_bytes, (type(self), self.to_bytes())

    def __deepcopy__(self, memo: dict[int, object]) -> "BiEncoderShim":
        return self.copy()


def _from_bytes(shim_type: type[BiEncoderShim], data: bytes) -> BiEncoderShim:
    return shim_type().from_bytes(data)
