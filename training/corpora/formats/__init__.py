"""Readers of shared formats; the file of each corpus interprets what they read."""
