"""Ranks: the part of a linker that composite mentions and explanations use."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ..types import Calibrator, Mention

if TYPE_CHECKING:
    from ..retrieval.filters import Only
    from .retrieval import Rankings, Retrieved
    from .scopes import Scope


class Ranks(Protocol):
    """A linker as far as it retrieves and ranks; the arguments are those of `Linker`."""

    @property
    def calibrator(self) -> Calibrator | None:
        """The calibrator of scores."""

    def denied(self, mentions: Sequence[Mention]) -> list[bool]:
        """Tell for each mention whether corrections say that it is no concept."""

    def retrieve(
        self,
        mentions: Sequence[Mention],
        k: int,
        only: "Only" = None,
        force: bool = False,
        keep: int = 0,
    ) -> "Retrieved":
        """Let the tiers propose candidates."""

    def rank(
        self,
        mentions: Sequence[Mention],
        k: int,
        only: "Only" = None,
        retrieved: "Rankings | None" = None,
    ) -> "Rankings":
        """Order the candidates of mentions."""

    def rank_unfiltered(self, mentions: Sequence[Mention], k: int) -> "Rankings":
        """Rank without any filter."""

    def scope(self, label: str, only: "Only" = None) -> "Scope":
        """Get the scope of an entity label."""
