"""Readers of further terminology formats, and of mapping sets."""
