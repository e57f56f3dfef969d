"""Updates: known names keep their vectors, new ones are encoded; else as built anew."""

import numpy as np
import pytest

from spacy_medlink.assets import Assets
from spacy_medlink.building import build_assets
from spacy_medlink.kb import build_kb
from spacy_medlink.types import Concept, Name
from tests.tiny import write_tiny_encoder


def concepts(*texts):
    return [Concept(text, text, (Name(text),)) for text in texts]


OLD = [f"disease {number}" for number in range(60)]
NEW = ["new fever", *OLD[5:50], "another one", OLD[7] + " acute"]


@pytest.fixture(scope="module")
def kbs(tmp_path_factory):
    directory = tmp_path_factory.mktemp("kbs")
    for name, texts in (("old", OLD), ("new", NEW)):
        build_kb(directory / name, concepts(*texts), {"version": name})
    return directory


class Counting:
    """Counts the texts that pass through an encoder."""

    def __init__(self, monkeypatch):
        from spacy_medlink.encoders.bi_encoder import BiEncoder

        self.texts = []
        encode = BiEncoder.encode

        def counted(encoder, texts, *rest):
            self.texts += texts
            return encode(encoder, texts, *rest)

        monkeypatch.setattr(BiEncoder, "encode", counted)


def test_only_new_names_are_encoded(tmp_path, kbs, tiny_encoder, monkeypatch):
    old = build_assets(tmp_path / "old", kbs / "old", tiny_encoder)
    fresh = build_assets(tmp_path / "fresh", kbs / "new", tiny_encoder)
    counting = Counting(monkeypatch)
    updated = build_assets(tmp_path / "updated", kbs / "new", update=old.path)
    assert counting.texts == ["new fever", "another one", "disease 7 acute"]
    assert updated.manifest["update"] == {
        "name": "old", "names": 60, "version": "old", "reused": 45, "encoded": 3, "dropped": 15,
        "why_not": "",
    }  # fmt: skip
    assert updated.manifest["encoder"] == fresh.manifest["encoder"]
    rows = np.arange(len(NEW))
    np.testing.assert_allclose(updated.dense.vectors(rows), fresh.dense.vectors(rows), atol=0.02)
    np.testing.assert_array_equal(
        updated.dense.vectors(rows[1:46]), old.dense.vectors(np.arange(5, 50))
    )
    Assets(updated.path, verify=True)
    Assets(old.path, verify=True)


def test_an_update_in_place(tmp_path, kbs, tiny_encoder):
    path = tmp_path / "assets"
    build_assets(path, kbs / "old", tiny_encoder)
    updated = build_assets(path, kbs / "new", update=path)
    assert len(updated.kb) == len(updated.dense) == len(NEW)
    assert updated.manifest["update"]["reused"] == 45
    Assets(path, verify=True)
    assert [file.name for file in tmp_path.iterdir()] == ["assets"]


@pytest.mark.parametrize("spec", ["SQ8", "IVF2,SQ8", "HNSW8,SQ8"])
def test_a_lossy_index_keeps_its_codes(tmp_path, kbs, tiny_encoder, spec):
    old = build_assets(tmp_path / "old", kbs / "old", tiny_encoder, index=spec)
    updated = build_assets(tmp_path / "new", kbs / "new", update=old.path)
    assert updated.manifest["index"]["spec"] == spec
    assert updated.manifest["update"]["reused"] == 45
    np.testing.assert_allclose(
        updated.dense.vectors(np.arange(1, 46)), old.dense.vectors(np.arange(5, 50)), atol=1e-6
    )
    query = updated.encoder.encode(["new fever"])
    assert updated.dense.search(query, 1).rows.tolist() == [[0]]


def test_what_another_encoder_made_is_not_reused(tmp_path, kbs, tiny_encoder):
    (tmp_path / "encoder").mkdir()
    other = write_tiny_encoder(tmp_path / "encoder", seed=1)
    old = build_assets(tmp_path / "old", kbs / "old", other)
    flat = build_assets(tmp_path / "flat", kbs / "old", tiny_encoder)
    lossy = build_assets(tmp_path / "lossy", kbs / "old", tiny_encoder, index="SQ8")
    without = build_assets(tmp_path / "without", kbs / "old")
    for base, settings, reason in (
        (old, {"encoder": tiny_encoder}, "another encoder"),
        (flat, {"encoder": tiny_encoder, "pooling": "cls"}, "pooling was mean, now it is cls"),
        (lossy, {"index": "Flat"}, "SQ8 compresses"),
        (without, {"encoder": tiny_encoder}, "no vectors"),
    ):
        updated = build_assets(tmp_path / "new", kbs / "new", update=base.path, **settings)
        facts = updated.manifest["update"]
        assert reason in facts["why_not"]
        assert (facts["reused"], facts["encoded"], facts["dropped"]) == (0, len(NEW), 60)
        want = updated.encoder.encode(["another one"])[0]
        assert updated.dense.vectors(np.array([46]))[0] @ want > 0.98


def test_an_update_without_vectors_has_none(tmp_path, kbs):
    old = build_assets(tmp_path / "old", kbs / "old")
    updated = build_assets(tmp_path / "new", kbs / "new", update=old.path)
    assert updated.tiers == ["exact", "ngram"]
    assert updated.manifest["encoder"] is None
