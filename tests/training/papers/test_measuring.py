"""From an encoder and a gold file to the rows of a table."""

from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Literal

import pytest

from spacy_medlink.assets import Assets
from spacy_medlink.assets.manifest import RERANKER
from spacy_medlink.encoders.bi_encoder import SETTINGS_FILE, BiEncoder
from spacy_medlink.encoders.cross_encoder import CrossEncoder, CrossSettings
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.linking.reranking import Reranker
from tests.lines import write_lines
from training.papers import measuring
from training.papers.measuring import Material, measure_links
from training.papers.plan import System, read_layout
from training.papers.published import LAYOUTS
from training.papers.table import Row, with_averages

Rows = dict[tuple[str, str], Row]

MENTIONS = [
    ("asthma", "HP:0002099", "en", "Disease"),
    ("fiebre", "HP:0001945", "es", "Finding"),
    ("hart attack", "HP:0001658", "en", "Disease"),
    ("sugar diabetes", "HP:0000819", "en", "Disease"),
]


@pytest.fixture
def gold(tmp_path):
    lines = ({"mention": text, "ids": [id], "lang": lang, "type": type}
             for text, id, lang, type in MENTIONS)  # fmt: skip
    return write_lines(tmp_path / "gold.jsonl", *lines)


def _measure(
    layout: str, kb: KnowledgeBase, gold: Path, work: Path, encoder: Path, *, train: str = "",
    pooling: Literal["", "mean"] = "", reranker: Path | None = None,
) -> Rows:  # fmt: skip
    """Measure by a layout. RETURNS: rows by system and part."""
    read = read_layout(LAYOUTS / f"{layout}.cfg")
    material = Material(read, Path(kb.path), gold, train, work, "cpu")
    system = System(name="ours", encoder=str(encoder), pooling=pooling)
    rows = measure_links(material, system, encoder, reranker, baselines=True)
    return {(row.system, row.part): row for row in with_averages(rows, read.averages)}


def test_medical_crossing(tmp_path, tiny_kb, tiny_encoder, gold):
    train = tmp_path / "train.jsonl"
    train.write_text('{"mention": "fiebre", "ids": ["HP:0001945"]}\n', encoding="utf-8")
    work = tmp_path / "work"
    rows = _measure("medical_crossing", tiny_kb, gold, work, tiny_encoder, train=str(train))
    assert {system for system, _ in rows} == {"exact", "n-gram tier", "Tf-idf", "ours"}
    assert rows["Tf-idf", "full"].figures["acc@5"] == 100.0
    assert rows["exact", "full"].figures["acc@1"] == 75.0
    unnamed = rows["exact", "filtered_dictionary"]
    assert unnamed[2:4] == (1, {"acc@1": 0.0, "acc@5": 0.0})
    assert rows["ours", "filtered_train"].n == 3
    assert (rows["ours", "full"].figures["acc@1"] or 0.0) >= 75.0
    # The assets of the first run are taken as they are, and are a linker themselves.
    (assets,) = work.iterdir()
    before = (assets / "manifest.json").stat().st_mtime_ns
    again = _measure("medical_crossing", tiny_kb, gold, work, tiny_encoder, train=str(train))
    assert (assets / "manifest.json").stat().st_mtime_ns == before
    assert again == rows
    whole = _measure("medical_crossing", tiny_kb, gold, work, assets)
    assert whole["ours", "full"].figures["acc@5"] == 100.0


def test_a_cross_encoder_orders_what_the_encoder_alone_finds(
    tmp_path, tiny_assets, tiny_encoder, gold
):
    cross = CrossEncoder.of(BiEncoder.load(tiny_encoder), CrossSettings(top=50, weight=1.0))
    cross.save(tmp_path / "made" / RERANKER)
    layout = read_layout(LAYOUTS / "clinlinker.cfg")
    parts = measuring._reranking(tmp_path / "made", tiny_assets, layout).parts
    assert parts.tier_names == ["dense"]
    assert parts.memory is None and isinstance(parts.rescorer, Reranker)
    given = ("clinlinker", tiny_assets.kb, gold, tmp_path / "work", tiny_encoder)
    # Without training no candidate is preferred.
    assert _measure(*given) == _measure(*given, reranker=tmp_path / "made")


def test_a_column_for_each_language(tmp_path, tiny_kb, tiny_encoder, gold):
    rows = _measure("xl_bel", tiny_kb, gold, tmp_path / "work", tiny_encoder)
    assert [part for system, part in rows if system == "exact"] == ["en", "es", "avg"]
    assert rows["exact", "en"].figures["acc@1"] == pytest.approx(200 / 3)
    assert rows["exact", "es"].figures["acc@1"] == 100.0
    average = rows["exact", "avg"]
    assert average.n == 4 and not average.hits
    hits = rows["ours", "en"].hits
    assert {mention[1] for mention in hits} == {0, 2, 3} and len(rows["ours", "es"].hits) == 1
    assert 100 * sum(hits.values()) / 3 == pytest.approx(rows["ours", "en"].figures["acc@1"])
    assert average.figures == pytest.approx({"acc@1": 250 / 3, "acc@5": 250 / 3})


def test_pooling_is_what_the_encoder_says_else_what_is_wanted(
    tmp_path, tiny_kb, tiny_encoder, gold
):
    silent = tmp_path / "silent"
    copytree(tiny_encoder, silent, ignore=ignore_patterns(SETTINGS_FILE))
    saying = tmp_path / "saying"
    BiEncoder.load(silent, "mean").save(saying)
    found = {}
    wanted: dict[str, tuple[Path, Literal["", "mean"]]] = {
        "said": (saying, ""), "the paper's": (silent, ""), "wanted": (silent, "mean"),
    }  # fmt: skip
    for name, (encoder, pooling) in wanted.items():
        work = tmp_path / name
        _measure("sapbert", tiny_kb, gold, work, encoder, pooling=pooling)
        (assets,) = work.iterdir()
        found[name] = Assets(assets).manifest["encoder"]["pooling"]
    assert found == {"said": "mean", "the paper's": "cls", "wanted": "mean"}
