"""Objectives: the training losses of a batch of vectors or of candidates; torch, no spaCy."""
