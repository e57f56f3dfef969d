"""Opening what the command line names: a knowledge base by its file or by assets that hold it."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..kb import KnowledgeBase


def open_kb(path: Path) -> "KnowledgeBase":
    """Open a knowledge base: the file, or a directory of assets that has it.

    RAISES (MedlinkError): E101-E103 when it cannot be opened.
    """
    from ..assets import KB_FILE
    from ..kb import KnowledgeBase

    inside = path / KB_FILE
    return KnowledgeBase(inside if inside.is_file() else path)
