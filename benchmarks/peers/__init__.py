"""Other linkers over the same knowledge base, to compare with ours in tables."""

from collections.abc import Callable

from benchmarks.peers.scispacy import ScispacyRanker
from benchmarks.peers.spacy_linker import SpacyRanker
from spacy_medlink.evaluation.judging import Ranker
from spacy_medlink.kb import KnowledgeBase

PEERS: dict[str, Callable[[KnowledgeBase, int], Ranker]] = {
    "scispacy": ScispacyRanker,
    "spacy": SpacyRanker,
}
"""By name, what makes a peer of a knowledge base and the number of names to propose."""
