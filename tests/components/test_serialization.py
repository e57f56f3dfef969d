"""Saved pipelines: disk, bytes, pickle, DocBin, moved and deleted sources, sourcing."""

import gc
import pickle
import re
import shutil
import warnings
from contextlib import contextmanager
from pathlib import Path

import pytest
import spacy
import srsly
from spacy.vocab import Vocab

from spacy_medlink.assets import Assets
from spacy_medlink.components.pipelines import open_pipeline
from spacy_medlink.errors import MedlinkError
from spacy_medlink.util.files import OwnedDirectory
from tests.pipelines import TEXTS, pipeline, values


def results(nlp):
    """What a pipeline says, scores rounded to what bf16 sums in other batches agree on."""
    found = [values(doc.ents) for doc in nlp.pipe(TEXTS)]
    for own in (one for all in found for one in all):
        own["kb_ents"] = own["kb_ents"][0][0]
        own["candidates"] = [own["candidates"][0]["id"], own["candidates"][0]["matched"]]
    return found


@pytest.fixture
def source(tmp_path, tiny_assets):
    """Assets of one's own, which can be deleted."""
    return Assets(shutil.copytree(tiny_assets.path, tmp_path / "source"))


@pytest.fixture(scope="module")
def want(tiny_assets):
    found = results(pipeline(tiny_assets, cui_scheme="UMLS"))
    assert sum(map(len, found)) == 9
    return found


@pytest.fixture
def nlp(source):
    return pipeline(source, cui_scheme="UMLS")


def test_saving_shares_the_files(tmp_path, nlp, source):
    nlp.to_disk(tmp_path / "saved")
    assets = Assets(tmp_path / "saved" / "medical_linker" / "assets", verify=True)
    assert all((assets.path / name).samefile(source.path / name) for name in assets.files)
    exact = tmp_path / "saved" / "medical_mentions" / "exact"
    own = {
        file.name for file in exact.iterdir() if not (source.path / "exact" / file.name).exists()
    }
    assert len(own) == 10 and {"medlink_files.json", "name_row.npy", "labels.npy"} <= own
    shared = {file for file in exact.iterdir() if file.name not in own}
    assert all(file.samefile(source.path / "exact" / file.name) for file in shared)


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [
        (0.5, {"HTN": ("HP:0000822", "I10"), "Asthma": ("HP:0002099", None)}),
        (0.9999, {"HTN": ("NIL", None), "Asthma": ("NIL", None)}),
    ],
)
def test_settings_of_a_saved_pipeline_can_be_overridden(tmp_path, nlp, threshold, expected):
    nlp.to_disk(tmp_path / "saved")
    config = {"components": {"medical_linker": {"threshold": threshold, "cui_scheme": "ICD10CM"}}}
    loaded = spacy.load(tmp_path / "saved", config=config)
    links = {ent.text: (ent.kb_id_, ent._.cui) for ent in loaded("Asthma, HTN").ents}
    assert links == expected


def test_a_saved_pipeline_is_a_source_of_assets(tmp_path, nlp, want):
    nlp.to_disk(tmp_path / "saved")
    other = spacy.blank("en")
    settings = {"medical_mentions": {"languages": []}, "medical_linker": {"cui_scheme": "UMLS"}}
    for name, config in settings.items():
        other.add_pipe(name, config={"assets": str(tmp_path / "saved"), **config})
    assert results(other) == want


def test_a_damaged_pipeline_says_so_when_loaded(tmp_path, nlp):
    nlp.to_disk(tmp_path / "saved")
    file = tmp_path / "saved" / "medical_linker" / "assets" / "kb.sqlite"
    file.unlink()
    with pytest.raises(MedlinkError, match=r"E202.*kb\.sqlite"):
        spacy.load(tmp_path / "saved")
    shutil.rmtree(tmp_path / "saved" / "medical_linker" / "assets")
    with pytest.raises(MedlinkError, match="E201"):
        spacy.load(tmp_path / "saved")
    (tmp_path / "saved" / "medical_mentions" / "exact" / "hash.npy").unlink()
    with pytest.raises(MedlinkError, match=r"E202.*hash\.npy"):
        spacy.load(tmp_path / "saved", exclude=["medical_linker"])


@pytest.fixture(scope="module")
def saved(tiny_assets, tmp_path_factory):
    """A saved pipeline, whose files come back as they were."""
    path = tmp_path_factory.mktemp("module") / "saved"
    pipeline(tiny_assets).to_disk(path)
    before = {name: (path / name).read_text("utf-8") for name in ("config.cfg", "meta.json")}
    yield path
    assert {name: (path / name).read_text("utf-8") for name in before} == before


@contextmanager
def changed(path, text, errors="strict"):
    before = path.read_text("utf-8")
    path.write_text(text, encoding="utf-8", errors=errors)
    try:
        yield
    finally:
        path.write_text(before, encoding="utf-8")


REFUSED = r"saved.*spaCy cannot load it.*"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        # What spaCy cannot hold, from half a surrogate pair to 65 bits.
        (r'lexicon = [{"\ud800": 1}]', r"medical_linker\.lexicon"),
        (r'prefix = "\ud800"', r"medical_linker\.prefix"),
        (r'types = ["T047", "\udc00"]', r"medical_linker\.types"),
        ("threshold = NaN", r"medical_linker\.threshold"),
        ("threshold = -Infinity", r"medical_linker\.threshold"),
        (f"top_k = {1 << 63}", r"medical_linker\.top_k"),
        (f"lexicon = [{-(1 << 70)}]", r"medical_linker\.lexicon"),
        # What it refuses.
        ('top_k = "five"', rf"{REFUSED}medical_linker -> top_k .*'five' is not"),
        ("top_k = {", f"{REFUSED}top_k"),
        ("merge = -1", f"{REFUSED}merge"),
        ("top_k = ${no.such}", f"{REFUSED}no.such"),
        ("unknown = 1", f"{REFUSED}unexpected argument"),
        ("factory = 5", f"{REFUSED}E966"),
        ('factory = "nope"', f"{REFUSED}E002"),
        ("[nlp]", f"{REFUSED}already exists"),
        ("\udcff", f"{REFUSED}codec"),
    ],
)
def test_a_config_that_spacy_cannot_use_is_refused_with_a_code(saved, line, said):
    path, name = saved / "config.cfg", line.partition(" ")[0]
    head, section, settings = path.read_text("utf-8").partition("[components.medical_linker]\n")
    settings = re.sub(rf"(?m)^{re.escape(name)} = .*\n", "", settings, count=1)
    with (
        changed(path, f"{head}{section}{line}\n{settings}", "surrogateescape"),
        pytest.raises(MedlinkError, match=rf"E302.*{said}") as caught,
    ):
        open_pipeline(str(saved))
    assert len(str(caught.value)) < 900


def test_saved_meta_with_half_a_surrogate_pair_is_refused(saved):
    """`Language.to_bytes` would end the process."""
    meta = saved / "meta.json"
    text = meta.read_text("utf-8").replace('"lang"', '"\\ud800":1,"lang"', 1)
    with changed(meta, text), pytest.raises(MedlinkError, match=r"E302.*meta\.json"):
        open_pipeline(str(saved))


def test_parts_can_be_excluded(tmp_path, nlp):
    linker, mentions = nlp.get_pipe("medical_linker"), nlp.get_pipe("medical_mentions")
    linker.to_disk(tmp_path / "linker", exclude=["assets"])
    assert list((tmp_path / "linker").iterdir()) == []
    assert linker.from_disk(tmp_path / "linker", exclude=["assets"]) is linker
    assert len(linker.to_bytes(exclude=["assets"])) < 10
    mentions.to_disk(tmp_path / "mentions", exclude=["exact"])
    assert not (tmp_path / "mentions").exists()
    assert mentions.to_bytes(exclude=["exact"]) == b""
    assert linker.from_bytes(linker.to_bytes(), exclude=["assets"]).assets.path == Path(
        linker.opened.source
    )


def test_what_came_as_bytes_leaves_nothing_behind(nlp):
    linker = spacy.blank("en").add_pipe("medical_linker")
    linker.from_bytes(nlp.get_pipe("medical_linker").to_bytes())
    path = linker.assets.path
    assert isinstance(linker.assets.keep_alive, OwnedDirectory)
    assert path.is_dir()
    del linker
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gc.collect()
    assert not path.exists()


def test_too_much_for_bytes(nlp):
    linker = nlp.get_pipe("medical_linker")
    linker.max_bytes_size = 1 << 20
    with pytest.raises(MedlinkError, match=r"E303.*to_disk"):
        linker.to_bytes()


@pytest.mark.parametrize("component", ["medical_linker", "medical_mentions"])
@pytest.mark.parametrize("name", ["../escaped", "/tmp/spacy-medlink-escaped", "a/../../escaped"])
def test_bytes_cannot_write_elsewhere(nlp, tmp_path, monkeypatch, name, component):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "inner"))
    (tmp_path / "inner").mkdir()
    with pytest.raises(MedlinkError, match="E202"):
        nlp.get_pipe(component).from_bytes(srsly.msgpack_dumps({name: b"x"}))
    assert not list(tmp_path.rglob("*escaped*"))
    assert not Path("/tmp/spacy-medlink-escaped").exists()


def test_pickles_hold_paths_not_contents(nlp):
    results(nlp)
    for name in ("medical_linker", "medical_mentions"):
        component = nlp.get_pipe(name)
        component.vocab = Vocab()
        assert len(pickle.dumps(component)) < 20_000


@pytest.mark.filterwarnings("ignore:.*W101")
def test_a_saved_starter(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions")
    nlp.add_pipe("medical_linker")
    nlp.to_disk(tmp_path / "saved")
    loaded = spacy.load(tmp_path / "saved")
    assert loaded.get_pipe("medical_linker").assets.path.is_relative_to(tmp_path)
    copied = [pickle.loads(pickle.dumps(one)) for one in (nlp, loaded)]
    for one in (loaded, *copied):
        assert [ent.kb_id_ for ent in one("fever").ents] == ["C0015967"]


def test_pipelines_of_a_newer_version(tmp_path, source):
    nlp = pipeline(source)
    nlp.to_disk(tmp_path / "saved")
    manifest = Path(tmp_path / "saved" / "medical_linker" / "assets" / "manifest.json")
    newer = {**srsly.read_json(manifest), "schema": 99}
    manifest.unlink()  # it is hard-linked
    srsly.write_json(manifest, newer)
    with pytest.raises(MedlinkError, match=r"E103.*schema 99.*[Ii]nstall"):
        spacy.load(tmp_path / "saved")
