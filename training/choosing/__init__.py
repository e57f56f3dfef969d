"""Measuring encoders on held-out names, and choosing the weights to ship."""
