"""Encoders: text to vector. Importing this package is cheap; torch comes with its modules."""
