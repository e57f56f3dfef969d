"""From an encoder and a gold file to the rows of a table."""

import json
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

from spacy_medlink.assets import Assets
from spacy_medlink.assets.manifest import RERANKER
from spacy_medlink.encoders.bi_encoder import SETTINGS_FILE, BiEncoder
from spacy_medlink.encoders.cross_encoder import CrossEncoder, CrossSettings
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.linking.reranking import Reranker
from training.papers import measuring
from training.papers.measuring import Material, Part, Row, Source, measure_systems
from training.papers.plan import read_layout
from training.papers.published import LAYOUTS
from training.papers.table import as_markdown, make_table

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


def _measure(layout: str, material: Material, sources: list[Source], work: Path) -> dict[str, Row]:
    read = read_layout(LAYOUTS / f"{layout}.cfg")
    rows = measure_systems(read, material, sources, work, print, "cpu", baselines=True)
    return {row.system: row for row in rows}


def test_medical_crossing(
    tmp_path: Path, tiny_kb: KnowledgeBase, tiny_encoder: Path, gold: Path
) -> None:
    train = tmp_path / "train.jsonl"
    train.write_text('{"mention": "fiebre", "ids": ["HP:0001945"]}\n', encoding="utf-8")
    work, material = tmp_path / "work", Material(Path(tiny_kb.path), gold, str(train))
    encoder = Source("BERT", tiny_encoder)
    rows = _measure("medical_crossing", material, [encoder], work)
    assert list(rows) == ["exact", "n-gram tier", "Tf-idf", "BERT"]
    assert rows["Tf-idf"].parts["full"].figures["acc@5"] == 100.0
    assert rows["exact"].parts["full"].figures["acc@1"] == 75.0
    assert rows["exact"].parts["filtered_dictionary"] == Part(1, {"acc@1": 0.0, "acc@5": 0.0})
    assert rows["BERT"].parts["filtered_train"].n == 3
    assert (rows["BERT"].parts["full"].figures["acc@1"] or 0.0) >= 75.0
    # The assets of the first run are taken as they are, and are a linker themselves.
    (assets,) = work.iterdir()
    before = (assets / "manifest.json").stat().st_mtime_ns
    again = _measure("medical_crossing", material, [encoder, Source("all", assets)], work)
    assert (assets / "manifest.json").stat().st_mtime_ns == before
    assert again["BERT"] == rows["BERT"]
    assert again["all"].parts["full"].figures["acc@5"] == 100.0


def test_a_cross_encoder_orders_what_the_encoder_alone_finds(
    tmp_path: Path, tiny_assets: Assets, tiny_encoder: Path, gold: Path
) -> None:
    cross = CrossEncoder.of(BiEncoder.load(tiny_encoder), CrossSettings(top=50, weight=1.0))
    cross.save(tmp_path / "made" / RERANKER)
    layout = read_layout(LAYOUTS / "clinlinker.cfg")
    parts = measuring._reranking(tmp_path / "made", tiny_assets, layout).parts
    assert parts.dense is not None and parts.exact is None and parts.ngram is None
    assert parts.memory is None and isinstance(parts.rescorer, Reranker)
    kb = Path(tiny_assets.kb.path)
    sources = [Source("bi", tiny_encoder), Source("bi + CE", tiny_encoder, "", tmp_path / "made")]
    rows = _measure("clinlinker", Material(kb, gold), sources, tmp_path / "work")
    # Without training no candidate is preferred.
    assert rows["bi"].parts == rows["bi + CE"].parts


def test_a_column_for_each_language(
    tmp_path: Path, tiny_kb: KnowledgeBase, tiny_encoder: Path, gold: Path
) -> None:
    material = Material(Path(tiny_kb.path), gold)
    rows = _measure("xl_bel", material, [Source("mBERT", tiny_encoder)], tmp_path / "work")
    exact = rows["exact"].parts
    assert list(exact) == ["en", "es", "avg"]
    assert exact["en"].figures["acc@1"] == pytest.approx(200 / 3)
    assert exact["es"].figures["acc@1"] == 100.0
    assert exact["avg"].n == 4
    assert exact["avg"].figures == pytest.approx({"acc@1": 250 / 3, "acc@5": 250 / 3})


def test_a_missing_figure_is_no_zero_in_the_mean() -> None:
    layout = read_layout(LAYOUTS / "xl_bel.cfg")
    by_lang = {
        "en": {"n": 3, "acc@1": 0.5, "acc@5": 0.75},
        "es": {"n": 1, "acc@1": 1.0, "acc@5": None},
    }
    parts = measuring._parts({"by_lang": by_lang}, layout)
    assert parts["avg"] == Part(4, {"acc@1": 75.0, "acc@5": None})
    table = make_table(layout, "ours", [Row("new", parts)], [])
    assert "| new | 50.0 / 75.0 | 100.0 / - | 75.0 / - |" in as_markdown(table)


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
        work = tmp_path / name
        material = Material(Path(tiny_kb.path), gold)
        _measure("sapbert", material, [Source("BERT", encoder, pooling)], work)
        (assets,) = work.iterdir()
        found[name] = Assets(assets).manifest["encoder"]["pooling"]
    assert found == {"said": "mean", "the paper's": "cls", "wanted": "mean"}
