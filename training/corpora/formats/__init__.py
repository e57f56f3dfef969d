"""Readers of the formats that corpora share; what a corpus means by them is its own file's."""
