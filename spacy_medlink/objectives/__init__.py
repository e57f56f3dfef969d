"""Objectives: what a batch of vectors or of candidates is trained for; torch, no spaCy."""
