"""Saved pipelines that share assets: references with `copy_assets = false`."""

import shutil

import pytest
import spacy

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.errors import MedlinkError
from tests.mutants import refused
from tests.pipelines import pipeline, texts_and_ids

FEVER = [("fever", "HP:0001945")]


def links(nlp):
    return texts_and_ids(nlp, "a fever")


@pytest.fixture
def source(tmp_path, tiny_assets):
    """Assets of one's own, which can be moved."""
    return Assets(shutil.copytree(tiny_assets.path, tmp_path / "shared" / "assets"))


@pytest.fixture
def saved(tmp_path, source):
    """A pipeline that was saved without its assets."""
    path = tmp_path / "pipelines" / "saved"
    path.parent.mkdir()
    pipeline(source, copy_assets=False).to_disk(path)
    return path


def test_a_reference_is_small_and_opens_the_shared_files(saved, source):
    files = [file.name for file in (saved / "medical_linker").rglob("*")]
    assert files == ["reference.json"]
    nlp = spacy.load(saved)
    linker = nlp.get_pipe("medical_linker")
    assert linker.assets.path == source.path.resolve()
    assert linker.copy_assets is False
    assert links(nlp) == FEVER


def test_the_config_may_say_where_they_are(saved, source, tmp_path):
    source.path.rename(tmp_path / "there")
    with pytest.raises(MedlinkError, match=r"E309.*shared/assets holds none .*E201"):
        spacy.load(saved)
    config = {"components": {"medical_linker": {"assets": str(tmp_path / "there")}}}
    nlp = spacy.load(saved, config=config)
    assert nlp.get_pipe("medical_linker").assets.path == tmp_path / "there"
    assert links(nlp) == FEVER


def test_other_assets_in_the_same_place_are_refused(saved, source, tiny_kb):
    build_assets(source.path, tiny_kb.path)
    with pytest.raises(MedlinkError, match=r"E309.*shared/assets holds others") as caught:
        spacy.load(saved)
    assert "'assets': DIRECTORY" in str(caught.value)


def test_damaged_assets_are_refused(saved, source):
    refused(source.path / "kb.sqlite", b"", spacy.load, saved, match=r"E309.*E202")


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"path": 1', '{"path": "a", "other": "b"}'])
def test_a_damaged_reference_is_refused(saved, text):
    path = saved / "medical_linker" / "reference.json"
    refused(path, text.encode(), spacy.load, saved, match=r"E202.*reference\.json")


def test_bytes_that_refer(source):
    nlp = pipeline(source, mentions=False, copy_assets=False)
    data = nlp.get_pipe("medical_linker").to_bytes()
    assert len(data) < 1000 < source.size
    nlp.get_pipe("medical_linker").max_bytes_size = 0
    other = spacy.blank("en")
    linker = other.add_pipe("medical_linker").from_bytes(nlp.get_pipe("medical_linker").to_bytes())
    assert linker.assets.path == source.path.resolve()
    shutil.rmtree(source.path)
    with pytest.raises(MedlinkError, match="E309"):
        spacy.blank("en").add_pipe("medical_linker").from_bytes(data)


def test_what_has_no_place_of_its_own_is_copied(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_linker", config={"copy_assets": False})
    with pytest.warns(UserWarning, match="W101"):
        nlp.to_disk(tmp_path / "saved")
    assert (tmp_path / "saved" / "medical_linker" / "assets" / "kb.sqlite").is_file()
    assert not (tmp_path / "saved" / "medical_linker" / "reference.json").exists()


def test_saving_the_other_way(saved, source, tmp_path):
    """What an earlier saving left is not what is loaded."""
    nlp = spacy.load(saved)
    nlp.get_pipe("medical_linker").copy_assets = True
    nlp.to_disk(saved)
    assert not (saved / "medical_linker" / "reference.json").exists()
    nlp.get_pipe("medical_linker").copy_assets = False
    nlp.to_disk(saved)
    assert [file.name for file in (saved / "medical_linker").iterdir()] == ["reference.json"]
    assert links(spacy.load(saved)) == FEVER


def test_a_copy_that_becomes_a_reference_to_itself_stays(source, tmp_path):
    pipeline(source).to_disk(tmp_path / "saved")
    shutil.rmtree(source.path)
    nlp = spacy.load(tmp_path / "saved")
    nlp.get_pipe("medical_linker").copy_assets = False
    nlp.to_disk(tmp_path / "saved")
    assert links(spacy.load(tmp_path / "saved")) == FEVER
    nlp.to_disk(tmp_path / "second")
    assert links(spacy.load(tmp_path / "second")) == FEVER
