"""Utilities that every package may use."""
