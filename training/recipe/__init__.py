"""Recipes: what they can say, and how they are read and checked."""
