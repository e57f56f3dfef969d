"""From an encoder and a gold file to the table, as the project's workflows do it."""

import json
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest
import typer

from spacy_medlink.assets import Assets
from spacy_medlink.encoders.bi_encoder import SETTINGS_FILE, BiEncoder
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase
from training.papers.__main__ import main
from training.papers.published import LAYOUTS

MENTIONS = [
    ("asthma", "HP:0002099", "en", "Disease"),
    ("fiebre", "HP:0001945", "es", "Finding"),
    ("hart attack", "HP:0001658", "en", "Disease"),
    ("sugar diabetes", "HP:0000819", "en", "Disease"),
]


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    file = tmp_path / "gold.jsonl"
    lines = (
        {"mention": text, "ids": [id], "lang": lang, "type": type}
        for text, id, lang, type in MENTIONS
    )
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def test_medical_crossing(
    tmp_path: Path, tiny_kb: KnowledgeBase, tiny_encoder: Path, gold: Path
) -> None:
    train = tmp_path / "train.jsonl"
    train.write_text('{"mention": "fiebre", "ids": ["HP:0001945"]}\n', encoding="utf-8")
    output, work = tmp_path / "out" / "table.json", tmp_path / "work"
    given = {"corpus": "cantemist", "kb": tiny_kb.path, "gold": gold, "train": str(train)}
    layout = LAYOUTS / "medical_crossing.cfg"
    main(layout, output, **given, encoder=[f"BERT={tiny_encoder}"], work=work)
    table = json.loads(output.read_text("utf-8"))
    rows = {row["system"]: row for row in table["rows"]}
    assert rows["Tf-idf"]["ours"]["full"]["acc@5"] == 100.0
    assert rows["exact"]["ours"]["full"]["acc@1"] == 75.0
    assert rows["exact"]["ours"]["filtered_dictionary"] == {"n": 1, "acc@1": 0.0, "acc@5": 0.0}
    assert rows["BERT"]["ours"]["filtered_train"]["n"] == 3
    assert rows["BERT"]["ours"]["full"]["acc@1"] >= 75.0
    assert rows["BERT"]["published"]["full"] == {"acc@1": 25.5, "acc@5": 34.69}
    assert rows["SapBERT"]["ours"] == {}
    assert "| *published* | 27.0 / 47.9 |" in output.with_suffix(".md").read_text("utf-8")
    # The assets of the first run are taken as they are, and are a linker themselves.
    (assets,) = work.iterdir()
    before = (assets / "manifest.json").stat().st_mtime_ns
    main(layout, output, **given, encoder=[f"BERT={tiny_encoder}"], linker=[f"all={assets}"],
         work=work)  # fmt: skip
    assert (assets / "manifest.json").stat().st_mtime_ns == before
    again = {row["system"]: row for row in json.loads(output.read_text("utf-8"))["rows"]}
    assert again["BERT"] == rows["BERT"]
    assert again["all"]["ours"]["full"]["acc@5"] == 100.0


def test_mentions_of_one_type(
    tmp_path: Path, tiny_kb: KnowledgeBase, tiny_encoder: Path, gold: Path
) -> None:
    output = tmp_path / "table.json"
    layout = LAYOUTS / "sapbert.cfg"
    main(layout, output, corpus="bc5cdr-d", kb=tiny_kb.path, gold=gold, type="Disease",
         encoder=[f"ours={tiny_encoder}"], work=tmp_path / "work")  # fmt: skip
    rows = json.loads(output.read_text("utf-8"))["rows"]
    assert {row["ours"]["full"]["n"] for row in rows if row["ours"]} == {3}
    with pytest.raises(MedlinkError, match="E404"):
        main(layout, output, kb=tiny_kb.path, gold=gold, type="Chemical",
             encoder=[f"ours={tiny_encoder}"], work=tmp_path / "work")  # fmt: skip


def test_a_column_for_each_language(
    tmp_path: Path, tiny_kb: KnowledgeBase, tiny_encoder: Path, gold: Path
) -> None:
    output = tmp_path / "table.json"
    main(LAYOUTS / "xl_bel.cfg", output, corpus="xl-bel", kb=tiny_kb.path, gold=gold,
         encoder=[f"mBERT={tiny_encoder}"], work=tmp_path / "work")  # fmt: skip
    table = json.loads(output.read_text("utf-8"))
    assert table["parts"] == ["en", "es", "avg"]
    exact = next(row for row in table["rows"] if row["system"] == "exact")["ours"]
    assert exact["en"]["acc@1"] == pytest.approx(200 / 3)
    assert exact["es"]["acc@1"] == 100.0
    assert exact["avg"] == {
        "n": 4,
        "acc@1": pytest.approx(250 / 3),
        "acc@5": pytest.approx(250 / 3),
    }


def test_what_is_missing_is_found_before_the_work(
    tmp_path: Path, tiny_kb: KnowledgeBase, tiny_encoder: Path, gold: Path
) -> None:
    layout, output = LAYOUTS / "sapbert.cfg", tmp_path / "table.json"
    with pytest.raises(typer.BadParameter):
        main(layout, output, kb=tiny_kb.path, gold=gold)
    with pytest.raises(typer.BadParameter):
        main(layout, output, kb=tiny_kb.path, gold=gold, encoder=[str(tiny_encoder)])
    with pytest.raises(MedlinkError, match="E205"):
        main(layout, output, kb=tiny_kb.path, gold=gold, encoder=["x=/nowhere"])
    with pytest.raises(MedlinkError, match="E107"):
        main(layout, output, kb=tiny_kb.path, gold=gold, linker=["x=/nowhere"])
    assert not output.exists()


def test_pooling_is_what_the_encoder_says_else_what_is_wanted(
    tmp_path: Path, tiny_kb: KnowledgeBase, tiny_encoder: Path, gold: Path
) -> None:
    silent = tmp_path / "silent"
    copytree(tiny_encoder, silent, ignore=ignore_patterns(SETTINGS_FILE))
    saying = tmp_path / "saying"
    BiEncoder.load(silent, "mean").save(saying)
    found = {}
    for name, encoder, pooling in (
        ("said", saying, ""),
        ("the paper's", silent, ""),
        ("wanted", silent, "mean"),
    ):
        output, work = tmp_path / f"{name}.json", tmp_path / name
        main(LAYOUTS / "sapbert.cfg", output, kb=tiny_kb.path, gold=gold, work=work,
             encoder=[f"BERT={encoder}"], pooling=pooling, note="Ours is tiny.")  # fmt: skip
        (assets,) = work.iterdir()
        found[name] = Assets(assets).manifest["encoder"]["pooling"]
        assert json.loads(output.read_text("utf-8"))["note"].endswith("parts. Ours is tiny.")
    assert found == {"said": "mean", "the paper's": "cls", "wanted": "mean"}
    with pytest.raises(MedlinkError, match=r"E502.*pooling"):
        main(LAYOUTS / "sapbert.cfg", tmp_path / "no.json", kb=tiny_kb.path, gold=gold,
             encoder=[f"BERT={saying}"], pooling="max")  # fmt: skip
