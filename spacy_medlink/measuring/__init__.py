"""Measuring a linker against gold mentions: by ranking them, or end to end from raw text."""

from .end_to_end import measure_pipeline
from .gold_set import GoldSet, load_gold
from .report import measure
from .settings import Settings

__all__ = ["GoldSet", "Settings", "load_gold", "measure", "measure_pipeline"]
