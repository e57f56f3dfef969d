"""Saved pipelines that share assets, and what spaCy's own commands make of a pipeline."""

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
import srsly
from spacy.cli.assemble import assemble_cli
from spacy.cli.package import package
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_medlink.assets import Assets
from spacy_medlink.building import build_assets
from spacy_medlink.errors import MedlinkError
from tests.pipelines import TEXTS, pipeline, values

FEVER = [("fever", "HP:0001945")]


def links(nlp, text="a fever"):
    return [(ent.text, ent.kb_id_) for ent in nlp(text).ents]


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


# copy_assets = false


def test_a_reference_is_small_and_opens_the_shared_files(saved, source):
    files = [file.name for file in (saved / "medical_linker").rglob("*")]
    assert files == ["reference.json"]
    nlp = spacy.load(saved)
    linker = nlp.get_pipe("medical_linker")
    assert linker.assets.path == source.path.resolve()
    assert linker.copy_assets is False
    assert links(nlp) == FEVER


def test_pipelines_that_share_assets_link_the_same(saved, source, tmp_path):
    pipeline(source).to_disk(tmp_path / "whole")
    one, other = spacy.load(saved), spacy.load(tmp_path / "whole")
    found = [[values(doc.ents) for doc in nlp.pipe(TEXTS)] for nlp in (one, other)]
    assert found[0] == found[1]
    assert sum(map(len, found[0])) == 9


def test_both_may_move_together(saved, tmp_path):
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for name in ("shared", "pipelines"):
        (tmp_path / name).rename(moved / name)
    nlp = spacy.load(moved / "pipelines" / "saved")
    assert nlp.get_pipe("medical_linker").assets.path == (moved / "shared" / "assets").resolve()
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
    (source.path / "kb.sqlite").write_bytes(b"")
    with pytest.raises(MedlinkError, match=r"E309.*E202"):
        spacy.load(saved)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"path": 1', '{"path": "a", "other": "b"}'])
def test_a_damaged_reference_is_refused(saved, text):
    (saved / "medical_linker" / "reference.json").write_text(text, encoding="utf8")
    with pytest.raises(MedlinkError, match=r"E202.*reference\.json"):
        spacy.load(saved)


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


def test_a_loaded_reference_pickles(saved):
    nlp = pickle.loads(pickle.dumps(spacy.load(saved)))
    assert links(nlp) == FEVER


# Large files


def test_files_are_linked_not_read(tmp_path, source):
    """Saving costs no memory: neither component reads its arrays to write them again."""
    nlp = pipeline(source)
    assert links(nlp) == FEVER
    nlp.to_disk(tmp_path / "saved")
    for saved, own in (("medical_linker/assets", "."), ("medical_mentions/exact", "exact")):
        for file in (tmp_path / "saved" / saved).rglob("*.npy"):
            original = source.path / own / file.relative_to(tmp_path / "saved" / saved)
            assert file.samefile(original), file


def test_files_are_copied_where_they_cannot_be_linked(tmp_path, source, monkeypatch):
    def refuse(*arguments, **settings):
        raise OSError(18, "another device")

    monkeypatch.setattr(os, "link", refuse)
    pipeline(source).to_disk(tmp_path / "saved")
    monkeypatch.undo()
    shutil.rmtree(source.path)
    nlp = spacy.load(tmp_path / "saved")
    assert links(nlp) == FEVER
    Assets(tmp_path / "saved" / "medical_linker" / "assets", verify=True)


# spaCy's commands


def test_from_config(source):
    nlp = pipeline(source, prefix="my_", top_k=2)
    other = spacy.util.load_model_from_config(nlp.config, auto_fill=True)
    assert other.config["components"] == nlp.config["components"]
    doc = other("a fever")
    assert [(ent.kb_id_, ent._.my_cui) for ent in doc.ents] == [("HP:0001945", "HP:0001945")]


ASSEMBLE = """
[nlp]
lang = "en"
pipeline = ["medical_mentions", "medical_linker"]

[components]

[components.medical_mentions]
factory = "medical_mentions"

[components.medical_linker]
factory = "medical_linker"
top_k = 3

[initialize]

[initialize.components]

[initialize.components.medical_mentions]
assets = "{assets}"

[initialize.components.medical_linker]
assets = "{assets}"
"""


def test_spacy_assemble(tmp_path, source):
    config = tmp_path / "config.cfg"
    config.write_text(ASSEMBLE.format(assets=source.path.as_posix()), encoding="utf8")

    class Context:
        args: list[str] = []

    assemble_cli(Context(), config, tmp_path / "out", None, False)
    shutil.rmtree(source.path)
    nlp = spacy.load(tmp_path / "out")
    assert links(nlp) == FEVER
    assert nlp.get_pipe("medical_linker").top_k == 3


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # spaCy leaves its files open
def test_spacy_package(tmp_path, source):
    """The package links without its source, and installs what it needs to."""
    pipeline(source).to_disk(tmp_path / "saved")
    (tmp_path / "out").mkdir()
    package(
        tmp_path / "saved", tmp_path / "out", name="tiny", version="0.0.1", create_sdist=False,
        create_wheel=False, silent=True,
    )  # fmt: skip
    shutil.rmtree(source.path)
    root = tmp_path / "out" / "en_tiny-0.0.1"
    requirements = srsly.read_json(root / "meta.json")["requirements"]
    assert [one for one in requirements if one.startswith("spacy-medlink")]
    # What installing does first: it puts meta.json where the package looks for it.
    subprocess.run([sys.executable, "setup.py", "--name"], cwd=root, capture_output=True)
    code = "import en_tiny; print(en_tiny.load()('a fever').ents[0].kb_id_)"
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=root, capture_output=True, text=True
    )
    assert ended.stdout.strip() == "HP:0001945", ended.stderr


def test_doc_bin_keeps_every_attribute_of_several_linkers(source):
    nlp = pipeline(source, prefix="a_", composite=True, backoff=True)
    config = {"assets": str(source.path), "prefix": "b_", "cui_scheme": "ICD10CM", "threshold": 0.9}
    nlp.add_pipe("medical_linker", "second", config={**config, "merge": "leave"})
    docs = list(nlp.pipe([*TEXTS, "Type 1 and type 2 diabetes, diabete"]))
    data = DocBin(docs=docs, store_user_data=True).to_bytes()
    restored = list(DocBin().from_bytes(data).get_docs(Vocab()))
    assert sum(len(doc.ents) for doc in docs) > 9
    for prefix in ("a_", "b_"):
        want, found = (
            [srsly.json_loads(srsly.json_dumps(values(doc.ents, prefix))) for doc in own]
            for own in (docs, restored)
        )
        assert found == want
        assert any(one["codes"] for own in want for one in own)


def test_pipelines_of_a_newer_version(tmp_path, source):
    nlp = pipeline(source)
    nlp.to_disk(tmp_path / "saved")
    manifest = Path(tmp_path / "saved" / "medical_linker" / "assets" / "manifest.json")
    newer = {**srsly.read_json(manifest), "schema": 99}
    manifest.unlink()  # it is hard-linked
    srsly.write_json(manifest, newer)
    with pytest.raises(MedlinkError, match=r"E203.*schema 99.*[Ii]nstall"):
        spacy.load(tmp_path / "saved")
