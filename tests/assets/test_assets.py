"""The assets directory: whole or a clear error, parts that belong together, copies, kills."""

import copy
import gc
import json
import pickle
import random
import shutil
from pathlib import Path

import pytest

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.assets.manifest import MANIFEST, SCHEMA
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import build_kb
from spacy_medlink.types import Concept, Mention, Name
from spacy_medlink.util.files import sha256_of
from tests.children import in_threads, kill_at_work
from tests.limits import files_limited_to
from tests.mutants import refused
from tests.tiny import TINY_RECORDS, write_tiny_encoder


@pytest.fixture
def own(tmp_path, tiny_assets):
    """A copy that may be damaged; no file is shared with the original."""
    return Path(shutil.copytree(tiny_assets.path, tmp_path / "assets"))


@pytest.fixture(scope="module")
def plain(tmp_path_factory, tiny_kb):
    """Assets without an encoder: small and fast."""
    return build_assets(tmp_path_factory.mktemp("plain") / "assets", tiny_kb.path)


def edit_manifest(path, change):
    manifest = json.loads((path / MANIFEST).read_text())
    change(manifest)
    (path / MANIFEST).write_text(json.dumps(manifest))


def accept(path, *names):
    """Let the manifest say that files are as they are, as careless hands might."""

    def change(manifest):
        for name in names:
            file = path / name
            manifest["files"][name] = {"size": file.stat().st_size, "sha256": sha256_of(file)}

    edit_manifest(path, change)


def ids(assets, text):
    ranking = assets.engine().rank([Mention(text)], 3)[0]
    return [assets.kb.concept_at(one.row).id for one in ranking]


def test_assets_that_were_built_without_an_ngram_tier(plain, tmp_path):
    old = tmp_path / "old"
    shutil.copytree(plain.path, old)
    edit_manifest(old, lambda facts: facts.update(tiers=["exact"]))
    assert ids(Assets(old), "Myocardial infarction") == ["HP:0001658"]
    with pytest.raises(MedlinkError, match="E405"):
        Assets(old).engine(["exact", "ngram"])


def test_whole_assets(tiny_assets, tiny_kb):
    assets = Assets(str(tiny_assets.path), verify=True)
    assert assets.tiers == ["exact", "ngram", "dense"]
    assert sum(assets.weights.values()) == pytest.approx(1)
    assert len(assets.kb) == len(tiny_kb) == 12
    assert len(assets.dense) == tiny_kb.n_names
    assert ids(assets, "heart attack")[0] == "HP:0001658"
    found = {
        file.relative_to(assets.path).as_posix()
        for file in assets.path.rglob("*") if file.is_file()
    }  # fmt: skip
    assert set(assets.files) == found
    assert assets.files[0] == MANIFEST
    total = sum((assets.path / name).stat().st_size for name in assets.files[1:])
    assert assets.size == total
    assert "12 concepts" in repr(assets)


@pytest.mark.parametrize("name", ["missing", "missing/too", "file"])
def test_no_directory(tmp_path, name):
    (tmp_path / "file").touch()
    with pytest.raises(MedlinkError, match=rf"E201.*{name}.*medlink build"):
        Assets(tmp_path / name)


def test_every_file_is_missed_and_a_cut_one_too(own):
    """Half-built, half-copied, half-downloaded: no file may be absent, short or long."""
    names = Assets(own).files
    assert len(names) > 15
    for name in names:
        refused(own / name, "gone", Assets, own, match=rf"E202.*{name}")
        for how in ("a byte less", "a byte more") if name != MANIFEST else ():
            refused(own / name, how, Assets, own, match=rf"E202.*{name}.*bytes")
    Assets(own, verify=True)


def test_verify_sees_every_flipped_bit(own):
    for name in Assets(own).files[1:]:
        content = bytearray((own / name).read_bytes())
        content[len(content) // 2] ^= 1
        (own / name).write_bytes(content)
        Assets(own)  # the cheap look does not see it
        with pytest.raises(MedlinkError, match=rf"E202.*{name} has a wrong checksum"):
            Assets(own, verify=True)
        content[len(content) // 2] ^= 1
        (own / name).write_bytes(content)
    Assets(own, verify=True)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "7", "\xff", '{"schema": 1}'])
def test_a_manifest_that_is_none(own, text):
    content = text.encode("latin-1")
    refused(own / MANIFEST, content, Assets, own, match=r"E202.*manifest\.json")


@pytest.mark.parametrize("schema", [None, 0, SCHEMA + 1, "1"])
def test_another_schema(own, schema):
    edit_manifest(own, lambda manifest: manifest.update(schema=schema))
    with pytest.raises(MedlinkError, match=rf"E103.*schema {schema}.*schema {SCHEMA}"):
        Assets(own)


@pytest.mark.parametrize("count", [5, len(TINY_RECORDS)], ids=["build", "release"])
def test_the_knowledge_base_of_another_build_or_release(own, tmp_path, count):
    build_kb(tmp_path / "kb", TINY_RECORDS[:count], {"source": "tests", "version": "2"})
    shutil.copy(tmp_path / "kb", own / "kb.sqlite")
    with pytest.raises(MedlinkError, match="E202"):
        Assets(own, verify=True)
    accept(own, "kb.sqlite")
    with pytest.raises(MedlinkError, match=r"E204.*kb\.sqlite"):
        _ = Assets(own).kb


def test_the_index_of_another_knowledge_base(own, tmp_path, tiny_encoder):
    build_kb(tmp_path / "kb", TINY_RECORDS[:5], {"source": "tests"})
    other = build_assets(tmp_path / "other", tmp_path / "kb", tiny_encoder)
    shutil.copy(other.path / "dense.faiss", own / "dense.faiss")
    accept(own, "dense.faiss")
    with pytest.raises(MedlinkError, match=r"E204.*vectors for 50 names"):
        _ = Assets(own).dense


def test_the_index_of_another_encoder(own, tmp_path):
    (tmp_path / "encoder").mkdir()
    write_tiny_encoder(tmp_path / "encoder", seed=1)
    shutil.copy(tmp_path / "encoder" / "model.safetensors", own / "encoder" / "model.safetensors")
    assets = Assets(own)  # the same size
    assert len(assets.kb) == 12
    with pytest.raises(MedlinkError, match=r"E204.*another encoder"):
        assets.engine()
    assert assets.engine(["exact", "ngram"]).parts.encoder is None


def test_the_dense_tier_where_there_is_none(plain):
    assert plain.tiers == ["exact", "ngram"]
    with pytest.raises(MedlinkError, match=r"E405.*medlink build --encoder"):
        plain.engine(["exact", "dense"])


def test_only_the_tiers_that_are_asked_for_are_opened(own):
    assets = Assets(own)
    engine = assets.engine(["exact"])
    assert (engine.parts.tier_names, engine.parts.encoder) == (["exact"], None)
    assert not {"ngram", "dense", "encoder"} & set(assets.parts)


def test_threads_open_each_part_once(tiny_assets):
    assets = Assets(tiny_assets.path)
    for part in ("kb", "exact", "ngram", "dense", "encoder"):
        opened = in_threads(lambda _, part=part: id(getattr(assets, part)), range(16))
        assert len(set(opened)) == 1, part


def test_copy_to_links_and_outlives_the_original(tmp_path, own):
    assets = Assets(own)
    assets.copy_to(tmp_path / "deep" / "copy")
    target = Assets(tmp_path / "deep" / "copy", verify=True)
    assert all((target.path / name).samefile(own / name) for name in assets.files)
    shutil.rmtree(own)
    assert ids(target, "heart attack")[0] == "HP:0001658"


def test_copy_to_replaces_what_was_there(tmp_path, plain):
    plain.copy_to(tmp_path / "target")
    text = (plain.path / "manifest.json").read_text()
    (tmp_path / "target" / "manifest.json").unlink()  # it is shared
    (tmp_path / "target" / "manifest.json").write_text(
        text.replace('"files": {', '"files": {"old": {}, ')
    )
    (tmp_path / "target" / "old").touch()
    plain.copy_to(str(tmp_path / "target"))
    assert not (tmp_path / "target" / "old").exists()
    Assets(tmp_path / "target", verify=True)
    assert [file.name for file in tmp_path.iterdir()] == ["target"]


def test_copy_onto_itself(own):
    assets = Assets(own)
    before = ids(assets, "fever")
    assets.copy_to(own)
    assert ids(assets, "fever") == ids(Assets(own, verify=True), "fever") == before


def test_copy_without_links(tmp_path, plain, monkeypatch):
    monkeypatch.setattr("os.link", lambda *_, **__: (_ for _ in ()).throw(OSError("other device")))
    plain.copy_to(tmp_path / "target")
    assert not (tmp_path / "target" / "kb.sqlite").samefile(plain.path / "kb.sqlite")
    Assets(tmp_path / "target", verify=True)


@pytest.mark.parametrize("make", [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy])
def test_pickles_hold_the_path_alone(tiny_assets, make):
    assert len(pickle.dumps(tiny_assets)) < 500
    other = make(tiny_assets)
    assert ids(other, "asthma") == ids(tiny_assets, "asthma")


def test_a_pickle_of_what_has_gone(tmp_path, plain):
    plain.copy_to(tmp_path / "gone")
    data = pickle.dumps(Assets(tmp_path / "gone"))
    shutil.rmtree(tmp_path / "gone")
    with pytest.raises(MedlinkError, match="E201"):
        pickle.loads(data)


@pytest.mark.parametrize("dots", [".", "..", "../assets"])
def test_paths_with_dots(own, monkeypatch, dots):
    monkeypatch.chdir(own / "exact" if dots == ".." else own)
    assert len(Assets(dots).kb) == 12
    assert Assets(dots, verify=True).tiers == ["exact", "ngram", "dense"]


def test_an_interrupted_swap_is_finished_when_opened(own):
    place = own.with_name(".assets.new-abcdefgh.tmp")  # as a killed writer leaves it
    place.mkdir()
    own.rename(place / "old")
    assert len(Assets(own).kb) == 12


def build_again_and_again(out, kbs, update, built):
    for number in range(1000):
        build_assets(out, kbs[number % 2], update=out if update and out.exists() else None)
        built.send(number)


@pytest.mark.parametrize("update", [False, True])
@pytest.mark.parametrize("kills", [4, pytest.param(30, marks=pytest.mark.slow)])
def test_whole_after_any_kill(tmp_path, kills, update):
    counts = {300: "one", 200: "two"}
    for count, name in counts.items():
        names = (f"name {name} {number}" for number in range(count))
        concepts = (Concept(text, text, (Name(text),)) for text in names)
        build_kb(tmp_path / f"{name}.kb", concepts)
    out = tmp_path / "assets"
    kbs = [tmp_path / "one.kb", tmp_path / "two.kb"]
    generator = random.Random(4)
    for _ in range(kills):
        kill_at_work(build_again_and_again, out, kbs, update, after=generator.uniform(0, 0.2))
        assets = Assets(out, verify=True)
        name = counts[len(assets.kb)]
        assert ids(assets, f"name {name} 77")[0] == f"name {name} 77"
    del assets
    gc.collect()  # the last reader of what was replaced
    build_assets(out, tmp_path / "one.kb")
    assert {file.name for file in tmp_path.iterdir()} == {"assets", "one.kb", "two.kb"}


@pytest.mark.parametrize("limit", [100, 5_000, 100_000, 400_000])
def test_a_full_disk_is_reported_and_harms_nothing(tmp_path, tiny_encoder, limit):
    names = [f"name {number} of something" for number in range(20_000 if limit > 1e6 else 10)]
    build_kb(tmp_path / "kb", (Concept(text, text, (Name(text),)) for text in names))
    build_kb(tmp_path / "old.kb", TINY_RECORDS)
    out = tmp_path / "assets"
    build_assets(out, tmp_path / "old.kb")
    with pytest.raises(MedlinkError, match="E109"), files_limited_to(limit):
        build_assets(out, tmp_path / "kb")
    assert len(Assets(out, verify=True).kb) == 12
    assert [file.name for file in out.parent.glob(".*")] == []
