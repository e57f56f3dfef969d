"""The same input gives the same bytes: in another process, with other hashes of strings."""

import json
import os
from pathlib import Path

import pytest

from benchmarks.umls import generate
from spacy_medlink.assets import Assets
from spacy_medlink.kb import KnowledgeBase
from tests.children import python
from tests.kb import samples

ROOT = Path(__file__).parents[2]
# More names than the script starts a second process for, and concepts in several pieces.
CONCEPTS, NAMES = 3_000, 11_000

SCRIPT = """
import json, sys
from pathlib import Path
from spacy_medlink.assets import build_assets
from spacy_medlink.kb import build_knowledge_base, lookup, writer
from spacy_medlink.util.files import sha256_of
from spacy_medlink.kb.filters import Filters

source, out, encoder = map(Path, sys.argv[1:])
# A tenth of the real sizes, with a tenth of the real names.
lookup._MANY, writer._CHUNK = 10_000, 2_000

def build(name, *sources, **settings):
    given = [(format, source / path) for format, path in sources]
    return build_knowledge_base(out=out / f"{name}.kb", sources=given, **settings).kb.path

build("umls", ("umls", "META"))
build("filtered", ("umls", "META"), filters=Filters(
    languages=("en", "es", "de"), types=("DISO", "CHEM")))
build("snomed", ("snomed", "RF2"), id_scheme="ICD10")
build("omop", ("omop", "omop"))
build("fhir", ("fhir", "fhir.json"))
formats = [("obo", "x.obo"), ("jsonl", "x.jsonl"), ("tsv", "x.tsv"),
           ("biosyn", "x.biosyn"), ("gazetteer", "x.gazetteer"), ("obo", "x.obo")]
for format, path in formats:
    build(format, (format, path))
build("united", *formats, curation=source / "curation.tsv")
small = build("small", ("umls", "small"))
later = build("later", ("umls", "small_later"), update=small)
first = build_assets(out / "assets", small, encoder).path
build_assets(out / "updated", later, update=first)
files = sorted(path for path in out.rglob("*") if path.is_file())
print(json.dumps({path.relative_to(out).as_posix(): sha256_of(path) for path in files}))
"""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sources")
    generate(path / "META", CONCEPTS, NAMES)
    generate(path / "small", 300, 1100)
    generate(path / "small_later", 300, 1100, year=1, fraction=0.05)
    samples.write_rf2(path / "RF2")
    samples.write_omop(path / "omop")
    texts = {
        "x.obo": samples.OBO, "x.jsonl": samples.JSONL,
        "fhir.json": samples.FHIR_TEXT,
        "x.tsv": samples.TSV, "x.biosyn": samples.BIOSYN, "x.gazetteer": samples.GAZETTEER,
        "curation.tsv": "deny\tDM\nadd\tsweet blood\tHP:0000819\nforce\tHTN\tH1\n",
    }  # fmt: skip
    for name, text in texts.items():
        (path / name).write_text(text, encoding="utf8")
    return path


@pytest.mark.slow
def test_same_bytes_whatever_the_hash_seed(
    sources: Path, tiny_encoder: Path, tmp_path: Path
) -> None:
    found = []
    for seed in ("1", "2"):
        out = tmp_path / seed / "out"
        out.mkdir(parents=True)
        own = {**os.environ, "PYTHONHASHSEED": seed}
        run = python("-c", SCRIPT, sources, out, tiny_encoder, env=own, timeout=280)
        found.append(json.loads(run.stdout))
    assert found[0] == found[1]
    for name in ("umls.kb", "united.kb", "assets/manifest.json", "updated/dense.faiss"):
        assert name in found[0]
    small = KnowledgeBase(out / "small.kb")
    updated = Assets(out / "updated", verify=True).manifest
    assert updated["update"]["reused"] > updated["update"]["encoded"] > 0
    assert updated["kb"]["updated_from"]["concepts"] == len(small)
