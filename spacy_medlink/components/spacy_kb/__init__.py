"""A knowledge base for spaCy's own `entity_linker`, whose config wants both of these:

    [components.entity_linker.generate_empty_kb]
    @misc = "spacy-medlink.EmptyKB.v1"

    [initialize.components.entity_linker.kb_loader]
    @misc = "spacy-medlink.KBFromMedlink.v1"
    path = "assets"

The loader fills the component before training. A saved pipeline loads its own copy into the empty
knowledge base.
"""

from .adapter import MedlinkKB

__all__ = ["MedlinkKB"]
