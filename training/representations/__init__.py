"""Measures of vectors besides linking: types, relations, similarities, and pictures."""
