"""Evaluation: how well a configured linker links the mentions of a gold file."""

from .end_to_end import measure_pipeline
from .gold_set import GoldSet, load_gold
from .measure import measure
from .settings import Settings

__all__ = ["GoldSet", "Settings", "load_gold", "measure", "measure_pipeline"]
