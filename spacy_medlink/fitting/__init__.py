"""Fitting: small models that are fitted to names or gold text, and the examples for them."""
