"""Published figures, each with its table: training/papers/published.tsv."""

from pathlib import Path
from typing import NamedTuple

_HERE = Path(__file__).parent
LAYOUTS = _HERE / "layouts"


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
    figures: dict[str, float]


def read_published(paper: str = "", corpus: str = "") -> list[Published]:
    """Read what a paper published, on one corpus or on all ("")."""
    rows = []
    for line in (_HERE / "published.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        of, table, where, part, system, figures = line.split("\t")
        pairs = (figure.rsplit(" ", 1) for figure in figures.split("; "))
        values = {name: float(value) for name, value in pairs}
        rows.append(Published(of, table, where, part, system, values))
    return [row for row in rows if paper in ("", row.paper) and corpus in ("", row.corpus)]


def papers() -> list[str]:
    """List the papers, each once."""
    return sorted({row.paper for row in read_published()})
