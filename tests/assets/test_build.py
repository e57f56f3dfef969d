"""Building assets: what is in them, what is the same each time, and what is refused beforehand."""

import numpy as np
import pytest

from spacy_medlink import __version__
from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.assets.starter import is_starter, starter_assets
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import MedlinkError
from spacy_medlink.evaluation.judging import rank_names
from spacy_medlink.kb import build_kb
from spacy_medlink.types import Concept, Mention, Name
from tests.trigrams import ngram_index


def test_the_manifest_says_what_was_built_from_what(tiny_assets, tiny_encoder, tiny_kb):
    manifest = tiny_assets.manifest
    assert manifest["kb"] == tiny_kb.manifest
    assert manifest["tiers"] == ["exact", "ngram", "dense"]
    assert manifest["index"] == {"spec": "Flat", "names": tiny_kb.n_names}
    assert manifest["encoder"] == {
        "source": tiny_encoder.name, "dim": 32, "pooling": "mean", "max_length": 64,
        "static": False, "device": "cpu", "fingerprint": BiEncoder.load(tiny_encoder).fingerprint(),
    }  # fmt: skip
    assert manifest["versions"]["spacy-medlink"] == __version__
    assert {"torch", "transformers", "faiss-cpu", "python"} <= manifest["versions"].keys()


def test_every_name_stands_in_its_row(tiny_assets, tiny_kb):
    names = list(tiny_kb.iter_texts())
    stored = tiny_assets.dense.vectors(np.arange(len(names)))
    cosines = np.einsum("nd,nd->n", stored, tiny_assets.encoder.encode(names))
    np.testing.assert_allclose(cosines, 1, atol=1e-3)
    engine = tiny_assets.engine()
    assert engine.name_concept.tolist() == tiny_kb.name_concepts().tolist()
    for row, ranking in enumerate(rank_names(engine, names, 50)):
        assert row in dict(ranking)
        assert dict(ranking)[row] == pytest.approx(1, abs=2e-3), "a perfect match scores 1.0"


def test_builds_are_the_same(tmp_path, tiny_kb, tiny_encoder):
    one, two = (build_assets(tmp_path / name, tiny_kb.path, tiny_encoder) for name in ("1", "2"))
    assert one.manifest == two.manifest


def test_equal_names_have_equal_vectors(tmp_path, tiny_encoder):
    concepts = [Concept(str(row), "fever", (Name("fever"), Name("cough"))) for row in range(9)]
    build_kb(tmp_path / "kb", concepts)
    vectors = build_assets(tmp_path / "a", tmp_path / "kb", tiny_encoder).dense.vectors(range(18))
    assert len(np.unique(vectors[::2], axis=0)) == len(np.unique(vectors[1::2], axis=0)) == 1


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_pooling_and_index_are_kept(tmp_path, tiny_kb, tiny_encoder, pooling):
    assets = build_assets(
        tmp_path / "a", tiny_kb.path, tiny_encoder, pooling=pooling, index="HNSW8,SQ8"
    )
    assert assets.manifest["encoder"]["pooling"] == Assets(assets.path).encoder.pooling == pooling
    assert assets.manifest["index"]["spec"] == "HNSW8,SQ8"
    ranking = assets.engine().rank([Mention("Heart attack")], 1)[0]
    assert assets.kb.concept_at(ranking[0].row).id == "HP:0001658"


def test_the_ngram_tier_scores_as_a_comparison_with_all_names(tmp_path, tiny_kb):
    assets = build_assets(tmp_path / "a", tiny_kb.path)
    assert assets.tiers == ["exact", "ngram"]
    texts = ["hart attack", "no such"]
    (first, _), scores = Assets(assets.path).ngram.search(texts, 3)
    every = ngram_index(tiny_kb.iter_texts()).search(texts, 3)
    assert first.tolist() == every.rows[0].tolist()
    assert scores[0] == pytest.approx(every.scores[0])
    assert scores[0][0] > 0.5


def test_what_is_wrong_is_said_before_anything_is_replaced(tmp_path, tiny_kb, tiny_encoder):
    out = tmp_path / "a"
    build_assets(out, tiny_kb.path)
    wrong = {
        "E101": {"kb": tmp_path / "missing.kb"},
        "E102": {"kb": tiny_encoder / "config.json"},
        "E205": {"encoder": tmp_path / "missing"},
        "E302": {"encoder": tiny_encoder, "pooling": "max"},
        "E209": {"encoder": tiny_encoder, "index": "IVF4096,PQ48"},
        "E201": {"update": tmp_path / "missing"},
    }
    for code, arguments in wrong.items():
        with pytest.raises(MedlinkError, match=code):
            build_assets(out, **{"kb": tiny_kb.path, **arguments})
        assert Assets(out, verify=True).tiers == ["exact", "ngram"]
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_progress_is_told(tmp_path, tiny_kb, tiny_encoder):
    told = []

    def progress(items, total, what):
        told.append((len(list(items)), total, what))
        return items

    build_assets(tmp_path / "a", tiny_kb.path, tiny_encoder, progress=progress)
    assert (tiny_kb.n_names, tiny_kb.n_names, "encoding names") in told


def test_the_starter_is_built_once_and_found(recwarn):
    starter = starter_assets()
    assert starter is starter_assets()
    assert is_starter(starter)
    assert starter.tiers == ["exact", "ngram"]
    assert len(starter.kb) >= 150
    Assets(starter.path, verify=True)
    assert not recwarn.list
