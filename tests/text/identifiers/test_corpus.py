"""Identifiers in real abstracts agree with what annotators said, and tell names apart."""

from collections import Counter
from pathlib import Path

import pytest

from spacy_medlink.assets import build_assets
from spacy_medlink.evaluation import load_gold
from spacy_medlink.kb.from_sources import build_knowledge_base
from spacy_medlink.text.identifiers import is_identified


@pytest.mark.slow
def test_what_is_identified_is_right_in_real_text(data_dir: Path, tmp_path: Path) -> None:
    source = ("jsonl", data_dir / "medic_2012.kb.jsonl.gz")
    kb = build_knowledge_base(out=tmp_path / "medic.kb", sources=[source]).kb
    engine = build_assets(tmp_path / "assets", kb.path).engine()
    counts = Counter[str]()
    for part in ("train", "dev"):
        cases = list(load_gold(data_dir / f"ncbi_disease.{part}.jsonl.gz", kb).cases())
        cases = [case for case in cases if case.mention.identifiers]
        bare = [case.mention._replace(identifiers=()) for case in cases]
        before, after = engine.rank(bare, 1), engine.rank([case.mention for case in cases], 1)
        for case, (without, *_), (best, *_) in zip(cases, before, after, strict=True):
            if is_identified(best.scores):
                assert best.row in case.right, case.mention.text
                counts[part] += 1
                counts[f"{part}, without"] += without.row in case.right
    assert (counts["train"], counts["train, without"]) == (37, 34)
    assert (counts["dev"], counts["dev, without"]) == (12, 0)
