"""Evaluation: how well a configured linker links the mentions of a gold file."""

from typing import TYPE_CHECKING

from ..util.after_import import names_from

if TYPE_CHECKING:
    from .end_to_end import measure_pipeline
    from .gold_set import GoldSet, load_gold
    from .measurement import measure
    from .settings import Settings

__all__ = ["GoldSet", "Settings", "load_gold", "measure", "measure_pipeline"]
# The command line imports the settings, and must not import all of this room.
__getattr__ = names_from(
    __name__, GoldSet="gold_set", Settings="settings", load_gold="gold_set",
    measure="measurement", measure_pipeline="end_to_end",
)  # fmt: skip
