"""Opening the files that the command line names, such as a knowledge base or assets with one."""

from pathlib import Path
from typing import Annotated

import typer

import spacy_medlink

from ..annotate.formats import FORMAT_HELP
from ..assets.manifest import KB_FILE

Source = Annotated[
    str,
    typer.Argument(
        metavar="ASSETS_OR_PIPELINE",
        help="Directory of assets, saved pipeline, installed pipeline package, or starter.",
    ),
]
As = Annotated[str, typer.Option("--as", metavar="FORMAT", help=FORMAT_HELP)]
AUTO = "auto"
_SQLITE = b"SQLite format 3"


def _check_device(name: str) -> str:
    """Check before the work that a device exists; torch, slow to import, only if necessary.

    RAISES (MedlinkError): E508 when it is not.
    """
    if name not in (AUTO, "cpu"):
        from ..util.devices import find_device

        find_device(name)
    return name


Device = Annotated[
    str,
    typer.Option(
        "--device",
        callback=_check_device,
        help="Device for neural networks: auto (a GPU if there is one), cpu, cuda, cuda:1, mps ...",
    ),
]


def open_kb(path: Path) -> "spacy_medlink.KnowledgeBase":
    """Open a knowledge base: its file, or a directory of assets that has one.

    RAISES (MedlinkError): E101-E103 when it cannot be opened.
    """
    inside = path / KB_FILE
    return spacy_medlink.KnowledgeBase(inside if inside.is_file() else path)


def is_kb(path: Path) -> bool:
    """Tell whether a path is a knowledge base, or a directory, which may be assets."""
    if not path.is_file():
        return path.is_dir()
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE
