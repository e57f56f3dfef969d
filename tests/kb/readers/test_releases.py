"""What is read of whole releases, each of a few files: `sample_files/golden` has all records."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from spacy_medlink.kb.readers import read
from tests.golden import records_of
from tests.kb import mesh_release, samples, umls_release

GOLDEN = Path(samples.__file__).with_name("sample_files") / "golden"


def _mesh(directory: Path) -> Path:
    (directory / "desc2026.xml").write_text(mesh_release.DESCRIPTORS, encoding="utf8")
    supplements = gzip.compress(mesh_release.SUPPLEMENTS.encode())
    (directory / "supp2026.xml.gz").write_bytes(supplements)
    return directory


RELEASES: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "umls": ("umls", umls_release.write_release),
    "rxnorm": ("umls", lambda path: umls_release.write_release(path, umls_release.RXNORM)),
    "snomed": ("snomed", samples.write_rf2),
    "omop": ("omop", samples.write_omop),
    "mesh": ("mesh", _mesh),
}


@pytest.mark.parametrize("name", RELEASES)
def test_releases(tmp_path: Path, name: str) -> None:
    format, write = RELEASES[name]
    assert list(read(format, write(tmp_path))) == records_of(GOLDEN / f"{name}.jsonl")
