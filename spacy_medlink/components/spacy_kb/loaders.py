"""The functions that an entity_linker's config names."""

from collections.abc import Callable
from functools import partial

from spacy.util import registry
from spacy.vocab import Vocab

from .adapter import WIDTH, MedlinkKB


@registry.misc("spacy-medlink.KBFromMedlink.v1")  # type: ignore[untyped-decorator]  # spaCy's has no types
def kb_from_medlink(path: str, width: int = WIDTH) -> Callable[[Vocab], MedlinkKB]:
    """Make the `kb_loader` of an entity_linker.

    path (str): a file that `medlink kb build` wrote, or a directory of `medlink build`.
    width (int): length of the entity vectors, where the path has none.
    """
    return partial(_opened, path, width)  # which can be pickled, as spaCy does


@registry.misc("spacy-medlink.EmptyKB.v1")  # type: ignore[untyped-decorator]  # spaCy's has no types
def empty_medlink_kb() -> Callable[[Vocab, int], MedlinkKB]:
    """Make the `generate_empty_kb` of an entity_linker whose knowledge base is a MedlinkKB."""
    return MedlinkKB


def _opened(path: str, width: int, vocab: Vocab) -> MedlinkKB:
    return MedlinkKB(vocab, width).open(path)
