"""Ranking: the order and the probability of candidates, by models that are fitted elsewhere.

The ranker is a linear model with a softmax over a mention's candidates (ListNet's top-one
probability: Cao et al. 2007, "Learning to rank: from pairwise approach to listwise approach").
"""
