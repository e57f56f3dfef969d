"""The built-in starter assets: a small terminology, so that a first try needs no download."""

import json
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import Errors
from ...kb import KnowledgeBase, build_kb
from ...kb.readers import read
from ...kb.resolve import CodeChooser
from ...text.normalisation import hash_keys, key
from ...types import Concept
from ...util.files import OwnedDirectory
from .. import Assets
from ..manifest import CALIBRATOR

if TYPE_CHECKING:
    from ...retrieval.exact import ExactIndex

KB_LINES = Path(__file__).with_name("kb.jsonl")
FITTED = Path(__file__).with_name("calibrator.json")
SOURCE = "starter"


@lru_cache(maxsize=1)
def starter_assets() -> Assets:
    """Build the starter assets (exact and n-gram tiers, no model) in a temporary directory.

    Each process builds them anew, which takes a fraction of a second, so that no files are left in
    a home directory.
    RAISES (MedlinkError): E614 when the installation lacks the file.
    """
    from .. import build_assets

    if not KB_LINES.is_file():
        raise Errors.extra_missing(
            what="The built-in starter",
            lacking="its files",
            remedy="install spacy-medlink again, from its checkout or wheel",
        )
    directory = OwnedDirectory("spacy-medlink-starter-")
    kb = build_starter_kb(directory.path)
    built = build_assets(directory.path / "built", kb, calibrate=False)
    assets = _with_calibrator(built, directory.path / "assets")
    # The directory lives as long as the assets do.
    assets.keep_alive = directory
    return assets


def _with_calibrator(assets: Assets, out: Path) -> Assets:
    """Write the starter assets with the calibrator that `calibration` has fitted."""
    from ..variant import write_variant

    fitted = json.loads(FITTED.read_text(encoding="utf-8"))

    def add(path: Path) -> None:
        (path / CALIBRATOR).write_text(json.dumps(fitted["calibrator"]), encoding="utf-8")

    return write_variant(assets, out, {"calibrator": fitted["facts"]}, add=add)


def build_starter_kb(directory: Path) -> Path:
    """Build the starter knowledge base in a directory."""
    kb = directory / "starter.kb"
    build_kb(kb, read("jsonl", KB_LINES), {"source": SOURCE, "format": "jsonl"})
    return kb


def is_starter(assets: Assets) -> bool:
    """Tell whether assets hold the starter terminology."""
    return bool(assets.manifest["kb"].get("source") == SOURCE)


def has_starter_names(exact: "ExactIndex") -> bool:
    """Tell whether an exact tier has names of the starter terminology and no others."""
    texts = {name.text for concept in _by_cui().values() for name in concept.names}
    if len(exact.rows) > 2 * len(texts):  # a name may be there by its words in any order, too
        return False
    places = exact.find(hash_keys(map(key, texts)))
    rows = set[int]()
    for at in set(places[places >= 0].tolist()):
        rows.update(row for row, name in exact.names_at(at).items() if name in texts)
    return rows == set(exact.rows.tolist())


_VOCABULARY = "UMLS"


def code_chooser(kb: KnowledgeBase) -> CodeChooser:
    """Make the chooser among several codes of a concept, for all code that shows or links one."""
    return CodeChooser(kb, keys_of_code)


def keys_of_code(vocabulary: str, code: str) -> frozenset[str]:
    """Get the keys of the names of a code; none if the starter does not have the code."""
    concept = _by_cui().get(code) if vocabulary == _VOCABULARY else None
    return frozenset(key(name.text) for name in concept.names) if concept else frozenset()


@lru_cache(maxsize=1)
def _by_cui() -> dict[str, Concept]:
    if not KB_LINES.is_file():  # an installation without data, which E614 reports elsewhere
        return {}
    concepts = (concept for concept in read("jsonl", KB_LINES) if isinstance(concept, Concept))
    return {concept.id: concept for concept in concepts}
