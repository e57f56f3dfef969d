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
from spacy.tokens import DocBin, Span
from spacy.vocab import Vocab

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.components import extensions
from spacy_medlink.errors import MedlinkError
from tests.pipelines import TEXTS, doc_with, pipeline, values

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
            if file.name.startswith("name_") and own == "exact":
                continue  # the texts of names, which assets have in the knowledge base
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


def own_assets(source):
    """A pipeline whose config names no assets, though it has some of its own."""
    nlp = spacy.blank("en")
    for name in ("medical_mentions", "medical_linker"):
        nlp.add_pipe(name).initialize(lambda: [], nlp=nlp, assets=source.path)
    return nlp


def named(nlp):
    return [part["assets"] for part in nlp.config["components"].values()]


def refused(config, component):
    """Whether a pipeline of a config alone refuses to link by the starter."""
    nlp = spacy.util.load_model_from_config(config)
    other = {"medical_mentions", "medical_linker"} - {component}
    doc = doc_with(nlp, "a fever", "fever")
    with nlp.select_pipes(disable=list(other)), pytest.raises(MedlinkError, match="E330"):
        nlp(doc)


@pytest.mark.parametrize("component", ["medical_mentions", "medical_linker"])
def test_a_config_does_not_mean_the_starter_for_assets_of_its_own(source, tmp_path, component):
    nlp = own_assets(source)
    refused(nlp.config, component)
    nlp.to_disk(tmp_path / "saved")
    shutil.rmtree(source.path)
    loaded = spacy.load(tmp_path / "saved")
    assert links(loaded) == FEVER
    refused(loaded.config, component)


@pytest.mark.parametrize("component", ["medical_mentions", "medical_linker"])
def test_nor_does_that_of_a_pipeline_of_an_older_version(source, tmp_path, component):
    """Its saved config names none; what is loaded with it is told from the starter."""
    own_assets(source).to_disk(tmp_path / "saved")
    config = tmp_path / "saved" / "config.cfg"
    text = config.read_text().replace('assets = "saved with the pipeline"', "assets = null")
    assert text.count("assets = null") == 2
    config.write_text(text)
    loaded = spacy.load(tmp_path / "saved")
    assert links(loaded) == FEVER
    refused(loaded.config, component)


def test_a_pipeline_of_the_config_takes_the_data(source, tmp_path):
    """As spaCy documents it: first the pipeline of the config, then its bytes or files."""
    nlp = own_assets(source)
    nlp.to_disk(tmp_path / "saved")
    blank = spacy.util.load_model_from_config
    assert links(blank(nlp.config).from_bytes(nlp.to_bytes())) == FEVER
    assert links(blank(nlp.config).from_disk(tmp_path / "saved")) == FEVER
    assert links(pickle.loads(pickle.dumps(nlp))) == FEVER
    other = {"components": {name: {"assets": str(source.path)} for name in nlp.pipe_names}}
    assert links(spacy.load(tmp_path / "saved", config=other)) == FEVER


def test_a_reference_without_its_assets_names_no_place_that_is_none(source, tmp_path):
    nlp = own_assets(source)
    nlp.get_pipe("medical_linker").copy_assets = False
    nlp.to_disk(tmp_path / "saved")
    shutil.rmtree(source.path)
    with pytest.raises(MedlinkError, match="E309") as caught:
        spacy.load(tmp_path / "saved")
    assert "saved with the pipeline holds" not in str(caught.value)


def test_the_config_of_the_starter_means_the_starter(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions", config={})
    nlp.add_pipe("medical_linker")
    with pytest.warns(UserWarning, match="W101"):
        nlp.to_disk(tmp_path / "saved")
        loaded = spacy.load(tmp_path / "saved")
        assert named(loaded) == [None, None]
        assert links(spacy.util.load_model_from_config(loaded.config), "diabetes")


def test_a_renamed_linker_is_known_by_its_new_name(source, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_linker")
    nlp.rename_pipe("medical_linker", "mine")
    nlp.get_pipe("mine").initialize(lambda: [], nlp=nlp, assets=source.path)
    assert named(nlp) == ["saved with the pipeline"]


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
    nlp = pipeline(source, prefix="a_", composite=True)
    config = {"assets": str(source.path), "prefix": "b_", "cui_scheme": "ICD10CM", "threshold": 0.0}
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


def without_user_data(nlp, text):
    """A Doc that was linked, as a plain `DocBin()` gives it back; and the Doc before."""
    doc = nlp(text)
    (again,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(Vocab())
    assert not again.user_data
    return doc, again


@pytest.fixture
def only_linker(monkeypatch):
    """A process where no other linker has been made, nor warned."""
    monkeypatch.setattr(extensions, "_PREFIXES", {})
    monkeypatch.setattr(extensions, "_TOLD_LOST", set())


def test_a_plain_doc_bin_keeps_what_the_kb_id_says(source, only_linker):
    """The concept's id is the code, unless a scheme is set; NIL has none."""
    doc, again = without_user_data(pipeline(source, deny=["HP:0001658"]), "A heart attack, fever")
    assert [ent.kb_id_ for ent in again.ents] == [ent.kb_id_ for ent in doc.ents]
    codes = [ent._.cui for ent in again.ents]
    assert codes == [ent._.cui for ent in doc.ents]
    assert "HP:0001945" in codes
    assert again.ents[0]._.candidates == []
    again.ents[0]._.cui = "C0"
    assert again.ents[0]._.cui == "C0"


@pytest.mark.parametrize("later", [False, True])
def test_a_plain_doc_bin_says_that_a_code_is_lost(source, only_linker, later):
    nlp = pipeline(source, **({} if later else {"cui_scheme": "ICD10CM"}))
    nlp.get_pipe("medical_linker").cui_scheme = "ICD10CM"
    doc, again = without_user_data(nlp, "type 2 diabetes")
    assert doc.ents[0]._.cui not in (None, doc.ents[0].kb_id_)
    with pytest.warns(UserWarning, match=r"W330.*store_user_data=True"):
        assert again.ents[0]._.cui is None


def test_another_linkers_id_is_not_taken_for_the_code(source, only_linker):
    nlp = pipeline(source)
    nlp.add_pipe("medical_linker", "second", config={"assets": str(source.path), "prefix": "b_"})
    _, again = without_user_data(nlp, "a fever")
    with pytest.warns(UserWarning, match="W330"):
        assert again.ents[0]._.cui is again.ents[0]._.b_cui is None


def test_an_id_that_was_there_before_is_no_code(source, only_linker):
    """Only where a whole Doc has lost its attributes can the kb_id stand for one."""
    nlp = pipeline(source, mentions=False, labels_discard=["X"])
    doc = doc_with(nlp, "a fever and asthma", "fever", "asthma")
    first, second = doc.ents
    doc.set_ents([Span(doc, first.start, first.end, label="X", kb_id="Q38933"), second])
    doc = nlp(doc)
    assert [(ent.kb_id_, ent._.cui) for ent in doc.ents] == [
        ("Q38933", None), ("HP:0002099", "HP:0002099"),
    ]  # fmt: skip


def test_pipelines_of_a_newer_version(tmp_path, source):
    nlp = pipeline(source)
    nlp.to_disk(tmp_path / "saved")
    manifest = Path(tmp_path / "saved" / "medical_linker" / "assets" / "manifest.json")
    newer = {**srsly.read_json(manifest), "schema": 99}
    manifest.unlink()  # it is hard-linked
    srsly.write_json(manifest, newer)
    with pytest.raises(MedlinkError, match=r"E103.*schema 99.*[Ii]nstall"):
        spacy.load(tmp_path / "saved")
