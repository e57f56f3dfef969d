import re

import pytest

from training.papers.plan import read_layout
from training.papers.published import LAYOUTS, papers, read_published

PAPERS = ["clinlinker", "coder", "medical_crossing", "sapbert", "xl_bel"]


def test_the_five_papers_have_figures_and_a_layout() -> None:
    assert papers() == PAPERS
    assert {path.stem for path in LAYOUTS.glob("*.cfg")} == {
        *PAPERS,
        "coder_mantra",
        "sapbert_entries",
    }
    for paper in PAPERS:
        assert read_layout(LAYOUTS / f"{paper}.cfg").paper == paper


def test_figures_are_what_figures_can_be() -> None:
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


@pytest.mark.parametrize(
    ("paper", "corpus", "part", "system", "figures"),
    [
        ("sapbert", "ncbi", "full", "PubMedBERT", {"acc@1": 77.8, "acc@5": 86.9}),
        ("sapbert", "cometa", "full", "SapBERT, fine-tuned", {"acc@1": 75.1, "acc@5": 85.5}),
        ("medical_crossing", "cantemist", "filtered_train", "SapBERT+target",
         {"acc@1": 53.31, "acc@5": 68.54}),
        ("medical_crossing", "mantra-es", "full", "Tf-idf", {"acc@1": 71.69, "acc@5": 80.72}),
        ("xl_bel", "xl-bel", "avg", "XLM-R + SAP all_syn", {"acc@1": 34.3, "acc@5": 39.3}),
        ("coder", "psytar", "full", "CODER_ENG", {"acc@1": 43.55, "acc@3": 62.47}),
        ("coder", "relations", "tuned", "CODER_ENG", {"accuracy": 98.82}),
    ],
)  # fmt: skip
def test_figures_of_the_methods_page(
    paper: str, corpus: str, part: str, system: str, figures: dict[str, float]
) -> None:
    rows = [
        row for row in read_published(paper, corpus) if (row.part, row.system) == (part, system)
    ]
    assert figures in [row.figures for row in rows]


def test_corpora_are_named_alike() -> None:
    names = {one.corpus for paper in PAPERS for one in read_published(paper)}
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)
