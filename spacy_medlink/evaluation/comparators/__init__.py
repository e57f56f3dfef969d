"""Other linkers over the same knowledge base, to compare with ours in tables."""

from collections.abc import Callable

from ...kb import KnowledgeBase
from ..judging import Ranker
from .scispacy import ScispacyRanker
from .spacy_linker import SpacyRanker

PEERS: dict[str, Callable[[KnowledgeBase, int], Ranker]] = {
    "scispacy": ScispacyRanker,
    "spacy": SpacyRanker,
}
"""By name, what makes a peer of a knowledge base and the number of names to propose."""
