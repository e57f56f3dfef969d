"""Mapping local terms, from a table or another knowledge base, to concepts."""
