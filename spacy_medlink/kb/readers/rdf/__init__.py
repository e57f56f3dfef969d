"""Ontologies in OWL and thesauri in SKOS, from RDF/XML, Turtle or N-Triples."""

from .reader import read, release_of

__all__ = ["read", "release_of"]
