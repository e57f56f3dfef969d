"""Ranking: a small model that orders candidates by what tiers, names and annotated text say.

Learning to rank with a linear model and a softmax over a mention's candidates (ListNet's top-one
probability: Cao et al. 2007, "Learning to rank: from pairwise approach to listwise approach").
"""

from .endings import Endings, ending_of
from .fitting import Fitted, Lists, fit
from .model import RankingModel
from .prior import Prior
from .traits import TRAITS, NameFacts, traits_of

__all__ = [
    "TRAITS",
    "Endings",
    "Fitted",
    "Lists",
    "NameFacts",
    "Prior",
    "RankingModel",
    "ending_of",
    "fit",
    "traits_of",
]
