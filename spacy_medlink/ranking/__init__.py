"""Ranking: a small model that orders candidates by what tiers, names and annotated text say.

Learning to rank with a linear model and a softmax over a mention's candidates (ListNet's top-one
probability: Cao et al. 2007, "Learning to rank: from pairwise approach to listwise approach").
"""

from .fitting import Fitted, Lists, fit
from .model import RankingModel
from .prior import Prior
from .traits import TRAITS, NameFacts, traits_of

__all__ = ["TRAITS", "Fitted", "Lists", "NameFacts", "Prior", "RankingModel", "fit", "traits_of"]
