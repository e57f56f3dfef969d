"""`medlink build`."""

import json

import pytest

from spacy_medlink.assets import Assets
from tests.lines import write_lines


def test_build_with_an_encoder(run, tmp_path, tiny_kb, tiny_encoder):
    out = tmp_path / "assets"
    result = run(
        "build", tiny_kb.path, "--output", out, "--encoder", tiny_encoder,
        "--index", "HNSW8", "--pooling", "cls",
    )  # fmt: skip
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0] == f"{out}: 12 concepts, {tiny_kb.n_names} names"
    assert [line.split()[0] for line in lines[1:4]] == ["exact", "ngram", "dense"]
    assert "MB in all, built in" in lines[-1]
    assets = Assets(out, verify=True)
    assert assets.manifest["encoder"]["pooling"] == "cls"
    assert assets.manifest["index"]["spec"] == "HNSW8"


def test_build_says_how_good_an_index_is(run, tmp_path, tiny_kb, tiny_encoder):
    out = tmp_path / "assets"
    arguments = ("--encoder", tiny_encoder, "--index", "IVF4,SQ8")
    result = run("build", tiny_kb.path, "--output", out, *arguments)
    facts = Assets(out, verify=True).manifest["index"]
    assert facts["search"] == {"nprobe": 4}, "there are no more lists"
    assert facts["recall"]["queries"] == tiny_kb.n_names
    assert 0.5 < facts["recall"]["recall@25"] <= 1
    share = f"{100 * facts['recall']['recall@25']:.1f} % of the 25 nearest"
    assert share in result.stdout
    assert Assets(out).dense.settings.nprobe == 4


def test_build_with_a_refined_index(run, tmp_path, tiny_kb, tiny_encoder):
    out, again = tmp_path / "assets", tmp_path / "again"
    arguments = ("--encoder", tiny_encoder, "--index", "IVF2,PQ8x2,RFlat")
    run("build", tiny_kb.path, "--output", out, *arguments)
    facts = Assets(out, verify=True).manifest["index"]
    assert facts["search"] == {"nprobe": 2, "k_factor": 8}
    assert facts["recall"]["recall@25"] == 1
    assert run("link", out, "fever", "--json").exit_code == 0
    # It has the vectors as they were: another kind of index needs no encoding.
    run("build", tiny_kb.path, "--output", again, "--update", out, "--index", "Flat")
    assert Assets(again).manifest["update"]["encoded"] == 0


def test_build_with_gold_mentions(run, fail, tmp_path, tiny_kb):
    gold = tmp_path / "gold.jsonl"
    names = [(name.text, concept.id) for concept in tiny_kb for name in concept.names]
    lines = [{"mention": f"bad {text}", "ids": [id]} for text, id in names]
    write_lines(gold, *lines)
    out = tmp_path / "assets"
    result = run("build", tiny_kb.path, "--output", out, "--memory", gold, "--dev", gold)
    assert "memory: 49 mentions, 1 of them disputed; 0 have no concept here" in result.stdout
    assert "fitted to examples made of names" in result.stdout, "49 mentions are too few"
    (linked,) = json.loads(run("link", out, "bad fever, fever", "--json").stdout)[-1:]
    assert linked["ids"] == ["HP:0001945"]
    fail("E107", "build", tiny_kb.path, "--output", out, "--dev", tmp_path / "missing")


def test_build_without_an_encoder(run, tmp_path, tiny_kb):
    result = run("build", tiny_kb.path, "--output", tmp_path / "assets")
    assert "there is no dense tier" in result.stderr
    assert "links: right" in result.stdout and "(before to after the fit)" in result.stdout
    assert Assets(tmp_path / "assets").tiers == ["exact", "ngram"]


def test_build_the_starter(run, tmp_path):
    run("build", "starter", "--output", tmp_path / "assets")
    assert len(Assets(tmp_path / "assets").kb) >= 150


@pytest.mark.parametrize(
    "arguments",
    [
        (), ("x.kb",), ("x.kb", "--pooling", "max", "OUT"), ("OUT",),
        ("x.kb", "--index", "HNSW8", "OUT"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_usage(run, tmp_path, arguments):
    output = ("--output", tmp_path / "assets")
    given = [part for one in arguments for part in (output if one == "OUT" else (one,))]
    run("build", *given, expect=2)
    assert not (tmp_path / "assets").exists()


def test_bad_parts_leave_the_old_assets_whole(run, fail, tmp_path, tiny_kb, tiny_encoder):
    out = tmp_path / "assets"
    run("build", tiny_kb.path, "--output", out)
    before = (out / "manifest.json").read_bytes()
    good = (tiny_kb.path, "--output", out)
    fail("E101", "build", tmp_path / "none.kb", "--output", out)
    fail("E205", "build", *good, "--encoder", tmp_path / "none")
    fail("E209", "build", *good, "--encoder", tiny_encoder, "--index", "Nonsense7")
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in tiny_encoder.iterdir():
        (broken / file.name).write_bytes(file.read_bytes())
    (broken / "model.safetensors").write_bytes(b"cut off")
    fail("E206", "build", *good, "--encoder", broken)
    assert (out / "manifest.json").read_bytes() == before
    assert json.loads(before)["tiers"] == ["exact", "ngram"]
    Assets(out, verify=True)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_place_that_cannot_be_written(fail, tiny_kb):
    fail("E109", "build", tiny_kb.path, "--output", tiny_kb.path / "assets")
