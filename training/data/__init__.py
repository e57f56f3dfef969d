"""Training data: names, pairs, batches, and held-out names."""
