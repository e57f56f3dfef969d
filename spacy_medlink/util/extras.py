"""Optional packages that come with an extra, and the message that one is missing."""

from importlib.util import find_spec

from ..errors import Errors, MedlinkError

CPU = "cpu"
_AUTO = "auto"
# The extra that installs a module; such modules are imported only when needed.
_EXTRAS = {
    "onnxruntime": "onnx",
    "onnx": "torch",
    "pyoxigraph": "rdf",
    "pytorch_metric_learning": "torch",
    "sklearn": "torch",
    "torch": "torch",
    "transformers": "torch",
}


def is_installed(module: str) -> bool:
    """Tell whether a module can be imported, without importing it."""
    try:
        return find_spec(module) is not None
    except ValueError:  # it is marked as missing
        return False


def is_processor(device: str) -> bool:
    """Tell whether a device is the processor, as all are where torch is not installed."""
    return device in (CPU, "-1") or (device == _AUTO and not is_installed("torch"))


def missing(error: ImportError, what: str) -> MedlinkError:
    """Make the error that names the extra with a missing package.

    what (str): the feature that needs it. RAISES (ImportError): the error itself, if no extra has
        the package.
    """
    package = (error.name or "").partition(".")[0]
    if package not in _EXTRAS:
        raise error
    return Errors.extra_missing(what=what, package=package, extra=_EXTRAS[package])
