"""Retrieval: the exact, n-gram and dense tiers, and how their answers are fused."""
