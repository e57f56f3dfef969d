"""An update encodes only the names that are new, and finds what a full build finds."""

import numpy as np
import pytest
from typer.testing import CliRunner

from spacy_medlink.assets import Assets, build_assets, vectors
from spacy_medlink.cli.app import app
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import build_kb
from spacy_medlink.types import Mention
from tests.assets.conftest import all_vectors
from tests.mutants import refused
from tests.tiny import TINY_RECORDS, concept, kb_of, write_tiny_encoder

OTHER = "another encoder made them, or one with other settings"
NEW = ["Cardiac tamponade", "tamponade", "low back pain"]


@pytest.fixture(scope="module")
def next_kb(tmp_path_factory):
    """The tiny knowledge base a year later: one concept is gone, two are new, all rows moved."""
    path = tmp_path_factory.mktemp("next") / "next.kb"
    kept = [record for record in TINY_RECORDS if record.id != "HP:0002099"]
    # "Fever" is now a name of the new concept too.
    new = [concept("X:1", NEW[0], NEW[1]), concept("X:2", NEW[2], "Fever", NEW[2].upper())]
    return kb_of(path, [*new, *reversed(kept)], {"version": "2"})


@pytest.fixture(scope="module")
def old(tmp_path_factory, tiny_kb, tiny_encoder):
    return build_assets(tmp_path_factory.mktemp("old") / "old", tiny_kb.path, tiny_encoder)


@pytest.mark.parametrize("chunk", [3, 32_768])
def test_only_new_names_are_encoded(
    old, next_kb, tiny_encoder, encoded, tmp_path, monkeypatch, chunk
):
    monkeypatch.setattr(vectors, "_CHUNK_OF_KNOWN", chunk)
    assets = build_assets(tmp_path / "new", next_kb.path, tiny_encoder, update=old.path)
    assert sorted(encoded) == sorted([*NEW, NEW[2].upper()])
    assert assets.manifest["update"] == {
        "name": "old", "names": old.kb.n_names, "version": "1", "why_not": "",
        "encoded": len(NEW) + 1, "reused": next_kb.n_names - len(NEW) - 1,
    }  # fmt: skip
    whole = build_assets(tmp_path / "whole", next_kb.path, tiny_encoder)
    assert whole.manifest["update"] is None
    assert assets.manifest["calibrator"] == whole.manifest["calibrator"]
    cosines = np.einsum("nd,nd->n", all_vectors(assets), all_vectors(whole))
    assert cosines.min() > 0.999
    mentions = [Mention(text) for text in ("pyrexia", "high sugar", "heart tamponade", "asthma")]
    best = [
        [own[0].row for own in engine.engine(weights=whole.weights).rank(mentions, 3)]
        for engine in (assets, whole)
    ]
    assert best[0] == best[1]


def test_encoder_and_index_of_the_old_are_the_default(tiny_kb, next_kb, tiny_encoder, tmp_path):
    place = tmp_path / "assets"
    first = build_assets(place, tiny_kb.path, tiny_encoder, index="HNSW8", pooling="cls")
    before = first.manifest
    # What is updated may be what is replaced.
    after = build_assets(place, next_kb.path, update=place)
    assert after.manifest["encoder"] == before["encoder"]
    assert after.manifest["encoder"]["pooling"] == "cls"
    assert after.manifest["encoder"]["source"] == tiny_encoder.name
    assert after.manifest["index"]["spec"] == "HNSW8"
    assert after.manifest["index"]["names"] == next_kb.n_names
    assert after.manifest["update"]["encoded"] == len(NEW) + 1
    assert Assets(place, verify=True).kb["X:1"].name == NEW[0]
    # `first` still reads the old one, which stays beside.
    assert [path.name for path in tmp_path.iterdir() if path.name[0] != "."] == ["assets"]


def test_fusion_weights_stay_while_the_names_do(old, next_kb, tmp_path):
    assets = build_assets(tmp_path / "new", next_kb.path, update=old.path)
    assert assets.manifest["fusion"] == old.manifest["fusion"]
    build_kb(tmp_path / "other.kb", [concept("X:9", *(f"name {n}" for n in range(60)))])
    other = build_assets(tmp_path / "other", tmp_path / "other.kb", update=old.path)
    assert other.manifest["update"]["reused"] == 0
    assert other.manifest["update"]["encoded"] == 60


@pytest.mark.parametrize("spec", ["SQ8", "HNSW8,SQ8", "IVF2,SQ8", "PQ4x4", "IVF2,PQ8x4fs,RFlat"])
def test_compressed_vectors_keep_their_codes(spec, tiny_kb, next_kb, tiny_encoder, tmp_path):
    first = build_assets(tmp_path / "first", tiny_kb.path, tiny_encoder, index=spec)
    second = build_assets(tmp_path / "second", next_kb.path, update=first.path)
    assert not second.manifest["update"]["why_not"]
    row_of = {text: row for row, text in enumerate(first.kb.iter_texts())}
    now = {text: row for row, text in enumerate(second.kb.iter_texts())}
    shared = [text for text in now if text in row_of]
    before = first.dense.vectors(np.array([row_of[text] for text in shared]))
    after = second.dense.vectors(np.array([now[text] for text in shared]))
    assert np.abs(before - after).max() < 1e-5
    hits = second.dense.search(second.encoder.encode(["Heart attack"]), 3)
    assert now["Heart attack"] in hits.rows[0]


@pytest.mark.parametrize(
    ("why", "settings", "old_settings"),
    [
        (OTHER, {"pooling": "cls"}, {}),
        (OTHER, {"encoder": "other"}, {}),
        (OTHER, {"encoder": "short"}, {}),
        ("they have no vectors", {}, {"encoder": None}),
        ("the old index SQ8 compresses, and the new one is Flat", {"index": "Flat"},
         {"index": "SQ8"}),
    ],
)  # fmt: skip
def test_what_cannot_be_reused_is_encoded_and_said(
    why, settings, old_settings, tiny_kb, next_kb, tiny_encoder, encoded, tmp_path
):
    other = tmp_path / "encoder"
    other.mkdir()
    write_tiny_encoder(other, seed=1)
    build_assets(tmp_path / "old", tiny_kb.path, **{"encoder": tiny_encoder, **old_settings})
    encoded.clear()
    settings = {"encoder": tiny_encoder, **settings}
    if settings["encoder"] == "other":
        settings["encoder"] = other
    elif settings["encoder"] == "short":
        settings["encoder"] = tmp_path / "short"
        BiEncoder.load(tiny_encoder, max_length=16).save(tmp_path / "short")
    assets = build_assets(tmp_path / "new", next_kb.path, **settings, update=tmp_path / "old")
    facts = assets.manifest["update"]
    assert facts["why_not"] == why
    assert (facts["reused"], facts["encoded"]) == (0, next_kb.n_names)
    assert sorted(encoded) == sorted(set(next_kb.iter_texts()))


def test_without_any_vectors_there_is_nothing_to_update(tiny_kb, next_kb, tmp_path):
    build_assets(tmp_path / "old", tiny_kb.path)
    assets = build_assets(tmp_path / "new", next_kb.path, update=tmp_path / "old")
    assert assets.tiers == ["exact", "ngram"] and assets.manifest["update"] is None


def test_damage_of_the_old_is_said(old, next_kb, tiny_kb, tiny_encoder, tmp_path):
    with pytest.raises(MedlinkError, match="E201"):
        build_assets(tmp_path / "new", next_kb.path, update=tmp_path / "nowhere")
    damaged = build_assets(tmp_path / "damaged", tiny_kb.path, tiny_encoder).path
    given = tmp_path / "new", next_kb.path
    refused(damaged / "dense.faiss", b"cut off", build_assets, *given, update=damaged)
    assert not (tmp_path / "new").exists()


def test_command_says_what_was_reused(old, next_kb, tmp_path):
    arguments = ["build", str(next_kb.path), "--output", str(tmp_path / "new")]
    done = CliRunner().invoke(app, [*arguments, "--update", str(old.path)])
    assert done.exit_code == 0, done.output
    reused = next_kb.n_names - len(NEW) - 1
    assert f"old: {reused} names reused, 4 encoded" in done.output
    done = CliRunner().invoke(app, [*arguments, "--update", str(old.path), "--pooling", "cls"])
    assert f"nothing could be reused, since {OTHER}" in done.output
