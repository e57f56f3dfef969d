"""Optional packages that come with an extra, and the message that one is missing."""

from importlib.util import find_spec
from traceback import walk_tb

from ..errors import Errors, MedlinkError

CPU = "cpu"
_AUTO = "auto"
# The extra that installs a module; such modules are imported only when needed.
_EXTRAS = {
    "fastapi": "serve",
    "huggingface_hub": "torch",
    "mcp": "mcp",
    "onnx": "torch",
    "onnxruntime": "onnx",
    "pyarrow": "parquet",
    "pyoxigraph": "rdf",
    "pytorch_metric_learning": "torch",
    "ray": "ray",
    "sklearn": "torch",
    "spacy_transformers": "transformers",
    "torch": "torch",
    "transformers": "torch",
    "uvicorn": "serve",
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
    """Make the error that names the missing package, and the extra that brings it.

    what (str): the feature that needs it. RAISES (ImportError): the error itself, if no extra has
        the package, and none has a package that imported it.
    """
    asking = (frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__))
    for name in (error.name or "", *asking):
        if extra := _EXTRAS.get(name.partition(".")[0]):
            return Errors.extra_missing(
                what=what, lacking=lacking(error), remedy=how_to_install(extra)
            )
    raise error


def how_to_install(extra: str) -> str:
    """Say how to install an extra; the project is not on a package index."""
    return (
        f"in the checkout, run `pip install -c constraints.txt '.[{extra}]'`; with the file of a "
        f"wheel, `pip install 'spacy_medlink-VERSION-py3-none-any.whl[{extra}]'`"
    )


def lacking(error: ImportError) -> str:
    """Say which package is missing, or why one that is there cannot be imported."""
    package = (error.name or "").partition(".")[0]
    if package and not is_installed(package):
        return f"the package {package}, which is not installed"
    reason = str(error).partition("\n")[0]
    return f"the package {package or 'named here'}, which cannot be imported ({reason})"
