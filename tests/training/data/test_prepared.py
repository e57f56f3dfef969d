"""Material on disk: the same as in memory, made once, whole or not at all."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.preparation import Preparation
from spacy_medlink.errors import MedlinkError
from training.data import prepared
from training.data.material import Material, Wanted, read_material
from training.data.prepared import open_material, prepare
from training.recipe.settings import DataSettings, HoldoutSettings

WANTED = Wanted(DataSettings(languages=("en", "de")), HoldoutSettings(fraction=0.5, most=100))


@pytest.fixture
def encoder(tiny_encoder):
    return BiEncoder.load(tiny_encoder)


@pytest.fixture
def wanted(tmp_path):
    bitext = tmp_path / "words.tsv"
    bitext.write_text("Herz\theart\nLunge\tlung\n", encoding="utf-8")
    return replace(WANTED, bitext=bitext)


def _columns(material: Material) -> dict[str, NDArray[np.generic]]:
    names = material.names
    return {
        "rows": names.rows, "concepts": names.concepts, "strings": names.strings,
        "trainable": names.trainable, "flat": names.tokens.flat, "offsets": names.tokens.offsets,
        "pairs": material.pairs,
    }  # fmt: skip


def _assert_same(first: Material, second: Material) -> None:
    for (name, left), right in zip(_columns(first).items(), _columns(second).values(), strict=True):
        assert left.dtype == right.dtype, name
        assert np.array_equal(left, right), name
    assert first.holdout == second.holdout
    assert first.n_kb == second.n_kb


def test_what_lies_on_disk_is_what_would_be_read_into_memory(tiny_kb, encoder, wanted, tmp_path):
    place = prepare(tiny_kb, encoder, wanted, tmp_path / "prepared")
    material = open_material(place, tiny_kb)
    _assert_same(material, read_material(tiny_kb, encoder.tokenize, wanted))
    assert isinstance(material.names.tokens.flat, np.memmap)
    assert len(material.translations) == 2


def test_it_is_made_once_and_again_when_anything_differs(
    tiny_kb, encoder, wanted, tmp_path, monkeypatch
):
    made: list[Path] = []
    write = prepared._write

    def counted(*arguments: object) -> int:
        made.append(tmp_path)
        return write(*arguments)

    monkeypatch.setattr(prepared, "_write", counted)
    first = prepare(tiny_kb, encoder, wanted, tmp_path / "p")
    assert prepare(tiny_kb, encoder, wanted, tmp_path / "p") == first
    assert len(made) == 1
    others = [
        replace(wanted, seed=1),
        replace(wanted, data=wanted.data.model_copy(update={"obsolete": False})),
        replace(wanted, bitext=None),
    ]
    places = {prepare(tiny_kb, encoder, other, tmp_path / "p") for other in others}
    encoder.max_length = 9
    places.add(prepare(tiny_kb, encoder, wanted, tmp_path / "p"))
    encoder.preparation = Preparation(True)
    places.add(prepare(tiny_kb, encoder, wanted, tmp_path / "p"))
    assert len(places | {first}) == 6
    assert wanted.bitext is not None
    wanted.bitext.write_text("Herz\theart\n", encoding="utf-8")
    assert prepare(tiny_kb, encoder, wanted, tmp_path / "p") not in {*places, first}


@pytest.mark.parametrize("file", ["rows", "pairs.npy", "manifest.json"])
def test_what_is_damaged_is_made_again(tiny_kb, encoder, wanted, tmp_path, file):
    place = prepare(tiny_kb, encoder, wanted, tmp_path)
    (place / file).write_bytes((place / file).read_bytes()[:20])
    assert prepare(tiny_kb, encoder, wanted, tmp_path) == place
    _assert_same(open_material(place, tiny_kb), read_material(tiny_kb, encoder.tokenize, wanted))


def test_a_bad_bitext_leaves_nothing_behind(tiny_kb, encoder, wanted, tmp_path):
    assert wanted.bitext is not None
    wanted.bitext.write_text("Herz\n", encoding="utf-8")
    with pytest.raises(MedlinkError, match=r"E401.*line 1"):
        prepare(tiny_kb, encoder, wanted, tmp_path / "p")
    assert not list((tmp_path / "p").iterdir())


def test_the_manifest_says_what_it_was_made_of(tiny_kb, encoder, wanted, tmp_path):
    place = prepare(tiny_kb, encoder, wanted, tmp_path)
    manifest = json.loads((place / "manifest.json").read_text("utf-8"))
    assert manifest["made_of"]["wanted"]["data"]["languages"] == ["en", "de"]
    assert manifest["made_of"]["kb"]["manifest"] == tiny_kb.manifest
    assert place.name == manifest["key"][:16]
