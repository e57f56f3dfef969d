"""Retrieval: the exact, n-gram and dense tiers, and the fusion of their answers."""
