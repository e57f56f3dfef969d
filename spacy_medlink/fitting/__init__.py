"""Fitting: small models that names or gold text teach, and the examples for them."""
