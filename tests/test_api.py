"""The public API is what the documentation, the stub and `__all__` say."""

import ast
import re
from pathlib import Path

import spacy_medlink
from tests.children import python

ROOT = Path(__file__).parents[1]


def test_the_page_lists_it() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == sorted(
        spacy_medlink.__all__
    )


def test_the_stub_lists_it() -> None:
    stub = ast.parse((ROOT / "spacy_medlink" / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    listed = {alias.asname: node.module for node in imports for alias in node.names}
    assert sorted(listed) == sorted(spacy_medlink.__all__) == spacy_medlink.__all__
    for name, module in listed.items():
        own = getattr(spacy_medlink, str(name))
        assert own.__name__ == name
        assert own.__module__.startswith(f"spacy_medlink.{module}")
        assert own.__doc__


def test_it_is_imported_when_asked_for() -> None:
    code = (
        "import sys, spacy_medlink; assert 'KnowledgeBase' in dir(spacy_medlink);"
        "own = [name for name in sys.modules if name.startswith('spacy_medlink.')];"
        # What registers the attributes, once spaCy is imported.
        "own = set(own) - {'spacy_medlink.util', 'spacy_medlink.util.after_import'};"
        "assert not own, own; assert 'spacy' not in sys.modules;"
        "from spacy_medlink import KnowledgeBase; assert 'spacy_medlink.kb' in sys.modules"
    )
    python("-c", code)


def test_other_names_are_refused() -> None:
    assert not hasattr(spacy_medlink, "Nothing")
