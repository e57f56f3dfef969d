"""What an installation may lack: packages that come with an extra, and how to get them."""

from importlib.util import find_spec

from ..errors import Errors, MedlinkError

CPU = "cpu"
_AUTO = "auto"
# Which extra brings a module that code imports when it needs it.
_EXTRAS = {
    "onnxruntime": "onnx",
    "openvino": "openvino",
    "onnx": "torch",
    "pytorch_metric_learning": "torch",
    "sklearn": "torch",
    "torch": "torch",
    "transformers": "torch",
}


def is_installed(module: str) -> bool:
    """Tell whether a module can be imported, without doing so."""
    try:
        return find_spec(module) is not None
    except ValueError:  # it is marked as missing
        return False


def is_processor(device: str) -> bool:
    """Tell whether a device is the processor, as all are where torch is not installed."""
    return device in (CPU, "-1") or (device == _AUTO and not is_installed("torch"))


def missing(error: ImportError, what: str) -> MedlinkError:
    """Say which extra brings the package that could not be imported.

    what (str): needs it. RAISES (ImportError): the error, where no extra brings it.
    """
    package = (error.name or "").partition(".")[0]
    if package not in _EXTRAS:
        raise error
    return Errors.extra_missing(what=what, package=package, extra=_EXTRAS[package])
