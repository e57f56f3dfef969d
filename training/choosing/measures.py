"""Measures: what tells how good an encoder is, on the same terms as its base."""

from typing import Any, Protocol

from spacy_medlink.encoders.bi_encoder import BiEncoder

from .selection import Figures, Halves


class Measures(Protocol):
    """Measures encoders.

    base (Halves): the base's figures; `dev` among them is what weights are chosen on.
    """

    base: Halves

    def fast(self, encoder: BiEncoder) -> Figures:
        """Measure on dev among the names that the base took for near ones."""
        ...

    def whole(self, encoder: BiEncoder) -> Halves:
        """Measure among all names."""
        ...

    def facts(self) -> dict[str, Any]:
        """Count what is compared with what."""
        ...
