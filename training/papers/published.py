"""Published figures, each with its table: training/papers/published.tsv."""

from pathlib import Path
from typing import NamedTuple

_HERE = Path(__file__).parent
LAYOUTS = _HERE / "layouts"
_FILE = _HERE / "published.tsv"

Figures = dict[str, float]


class Published(NamedTuple):
    """The published figures of a system on a part of a corpus; accuracies in per cent.

    part (str): as `medlink evaluate` names it, such as "filtered_0.2_train"; a language of XL-BEL;
        "full". figures (Dict[str, float]): such as {"acc@1": 27.02}.
    """

    paper: str
    table: str
    corpus: str
    part: str
    system: str
    figures: Figures


def read_published(paper: str, corpus: str = "") -> list[Published]:
    """Read what a paper published, on one corpus or on all ("")."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()[1:]
    every = map(_published, lines)
    return [one for one in every if one.paper == paper and corpus in ("", one.corpus)]


def papers() -> list[str]:
    """List the papers, each once."""
    return sorted({line.split("\t")[0] for line in _FILE.read_text("utf-8").splitlines()[1:]})


def _published(line: str) -> Published:
    paper, table, corpus, part, system, figures = line.split("\t")
    return Published(paper, table, corpus, part, system, _figures(figures))


def _figures(cell: str) -> Figures:
    pairs = (figure.rsplit(" ", 1) for figure in cell.split("; "))
    return {name: float(value) for name, value in pairs}
