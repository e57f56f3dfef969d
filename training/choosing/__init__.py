"""How good an encoder is on held-out names, and which weights are shipped."""
