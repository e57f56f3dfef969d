import re

import pytest

from spacy_medlink.errors import MedlinkError
from tests.tables import table
from training.papers.plan import read_layout
from training.papers.published import LAYOUTS, papers, read_published

PAPERS = ["clinlinker", "coder", "medical_crossing", "sapbert", "xl_bel"]


def test_the_five_papers_have_figures_and_a_layout():
    assert papers() == PAPERS
    assert {path.stem for path in LAYOUTS.glob("*.cfg")} == {
        *PAPERS,
        "coder_mantra",
        "sapbert_entries",
    }
    for paper in PAPERS:
        assert read_layout(LAYOUTS / f"{paper}.cfg").paper == paper


def test_figures_are_what_figures_can_be():
    for paper in PAPERS:
        rows = read_published(paper)
        keys = [(one.table, one.corpus, one.part, one.system) for one in rows]
        assert len(keys) == len(set(keys))
        for one in rows:
            assert one.table.isdigit() and one.figures
            accuracies = [value for name, value in one.figures.items() if name.startswith("acc@")]
            # No accuracy falls with depth.
            assert accuracies == sorted(accuracies)
            shares = [value for name, value in one.figures.items() if name != "millions"]
            assert all(0 <= value <= 100 for value in shares)


@table(__file__, "figures_of_the_methods_page")
def test_figures_of_the_methods_page(paper, corpus, part, system, figures):
    rows = [
        row for row in read_published(paper, corpus) if (row.part, row.system) == (part, system)
    ]
    assert figures in [row.figures for row in rows]


def test_corpora_are_named_alike():
    names = {one.corpus for paper in PAPERS for one in read_published(paper)}
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)


def test_medical_crossing_filters_by_both_references():
    layout = read_layout(LAYOUTS / "medical_crossing.cfg")
    settings = layout.settings("train.jsonl", ("dense",), baselines=True)
    assert settings.train == ["train.jsonl", "dictionary"]
    assert (settings.protocol, settings.ks, settings.tiers) == ("names", (1, 5), ("dense",))
    assert layout.pooling == "mean"


@table(__file__, "layouts_that_cannot_be")
def test_layouts_that_cannot_be(tmp_path, text, message):
    file = tmp_path / "bad.cfg"
    file.write_text(f"[table]\n{text}\n", encoding="utf-8")
    with pytest.raises(MedlinkError, match=f"(?s){message}"):
        read_layout(file)
