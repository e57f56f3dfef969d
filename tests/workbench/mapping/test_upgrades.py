"""Releases of MONDO follow each other: what people decided on one holds in the next."""

import csv
import json
from importlib.metadata import distribution
from pathlib import Path

import pytest

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.fitting.corrections import read_overlay
from spacy_medlink.kb import KnowledgeBase, build_knowledge_base
from spacy_medlink.kb.overlay import OverlaidKb
from spacy_medlink.kb.resolve import find_ids
from spacy_medlink.terminologies.diff import diff
from spacy_medlink.types import Concept
from spacy_medlink.workbench.mapping.run import map_terms
from training import open_default

RELEASES = ("v2025-02-04", "v2025-05-06", "v2025-09-02", "v2026-05-05")
_TERMS = 300


@pytest.fixture(scope="module")
def mondo():
    pytest.importorskip("cellxgene_ontology_guide")
    return open_default.sources()[0]


def _build(mondo, release, path, update=None) -> KnowledgeBase:
    (last,) = (release for release in RELEASES if release in mondo.file)
    path_of_release = distribution(mondo.package).locate_file(mondo.file.replace(last, release))
    records = open_default.read_source(mondo, Path(str(path_of_release)))
    path.with_suffix(".jsonl").write_text("".join(map(open_default.line_of, records)))
    build_knowledge_base(out=path, sources=[("jsonl", path.with_suffix(".jsonl"))], update=update)
    return KnowledgeBase(path)


@pytest.mark.slow
def test_nothing_approved_or_corrected_is_lost(mondo, tmp_path):
    whole = [_build(mondo, RELEASES[0], tmp_path / "0.kb")]
    for number, release in enumerate(RELEASES[1:], 1):
        whole.append(_build(mondo, release, tmp_path / f"{number}.kb", whole[-1].path))
    old, new = whole[0], whole[-1]
    gone = [concept for concept in old if concept.id not in new and new.resolve(concept.id)]
    assert len(gone) > 40, "concepts of the first release that another one has replaced"
    decided = [*gone, *(concept for concept in old if concept.id in new)][:_TERMS]
    assets = build_assets(tmp_path / "0.assets", old.path)
    _decide(tmp_path, decided, assets)
    for number, kb in enumerate(whole[1:], 1):
        assert diff(whole[number - 1], kb)
        assets = build_assets(tmp_path / f"{number}.assets", kb.path, update=assets.path)
        done = map_terms(tmp_path / "terms.csv", assets.engine(), tmp_path / "mapped.csv")
        assert (done.reviewed.kept, done.reviewed.invalid) == (len(decided), 0)
    with (tmp_path / "mapped.csv").open(encoding="utf-8-sig", newline="") as file:
        ids = {row["source_code"]: row["concept_id"] for row in csv.DictReader(file)}
    assert ids == {concept.id: new.resolve(concept.id) for concept in decided}
    rules = OverlaidKb(new, read_overlay(tmp_path / "corrections.jsonl")).rules
    assert [bool(rule.no_effect) for rule in rules.rules] == [False] * len(decided)
    assert len(find_ids(new, [concept.id for concept in decided])) == len(decided)


def _decide(path, concepts: list[Concept], assets: Assets) -> None:
    """Map local terms, approve other targets in the file as people do, and write corrections."""
    with (path / "terms.csv").open("w", encoding="utf-8", newline="") as file:
        terms = [(concept.id, f"local {number}") for number, concept in enumerate(concepts)]
        csv.writer(file).writerows([("code", "name"), *terms])
    mapped = path / "mapped.csv"
    map_terms(path / "terms.csv", assets.engine(), mapped)
    with mapped.open(encoding="utf-8-sig", newline="") as file:
        rows = {row["source_code"]: row for row in csv.DictReader(file)}
    for concept in concepts:
        rows[concept.id] |= {
            "status": "APPROVED", "match_type": "exact", "concept_id": concept.id,
            "concept_name": concept.name,
        }  # fmt: skip
    with mapped.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, [*next(iter(rows.values()))])
        writer.writeheader()
        writer.writerows(rows.values())
    lines = []
    for number, concept in enumerate(concepts):
        mention = {"mention": f"local {number}", "ids": [concept.id]}
        lines.append(json.dumps({"doc_id": str(number), "lang": "en", "mentions": [mention]}))
    (path / "corrections.jsonl").write_text("\n".join(lines))
