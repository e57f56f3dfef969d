"""What the starter terminology calls the codes of the UMLS."""

from functools import lru_cache

from ...kb import KnowledgeBase
from ...kb.codes import CodeChooser
from ...kb.readers import read
from ...text.normalisation import key
from ...types import Concept
from . import KB_LINES

_VOCABULARY = "UMLS"
_NONE: frozenset[str] = frozenset()


def code_chooser(kb: KnowledgeBase) -> CodeChooser:
    """Make what chooses among several codes of a concept, for all who show or link one."""
    return CodeChooser(kb, keys_of_code)


def keys_of_code(vocabulary: str, code: str) -> frozenset[str]:
    """Get the keys of the names of a code, none where the starter does not know it."""
    return _by_cui().get(code, _NONE) if vocabulary == _VOCABULARY else _NONE


@lru_cache(maxsize=1)
def _by_cui() -> dict[str, frozenset[str]]:
    if not KB_LINES.is_file():  # an installation without data, which only E304 says aloud
        return {}
    concepts = (one for one in read("jsonl", KB_LINES) if isinstance(one, Concept))
    return {one.id: frozenset(key(name.text) for name in one.names) for one in concepts}
