"""A picture of names, coloured by concept: SAPBERT (Liu et al., 2021), figure 1.

Vectors become points of a plane by t-SNE (van der Maaten and Hinton, 2008), or by UMAP where that
is installed. Names of one concept should lie together, and apart from others.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Floats2d
from spacy_medlink.util.extras import lacking
from spacy_medlink.util.outputs import marked

TSNE, UMAP = "tsne", "umap"
METHODS = (TSNE, UMAP)
_SOFTWARE = "spacy-medlink picture of names"
PICTURE = marked("a picture of names", _SOFTWARE)
_PERPLEXITY = 15.0
_INCHES, _DPI = 5.6, 150
_COLOURS = 10  # of matplotlib's tab10, which the eye tells apart; beyond, markers change
_MARKERS = "os^Dv*PX"
_LONGEST = 34  # characters of a concept's name in the legend
_FEWEST = 3  # names, for a plane to have anything to show


class DrawnNames(NamedTuple):
    """Names to draw, and the preferred name of the concept of each."""

    names: list[str]
    concepts: list[str]


def choose_names(
    kb: KnowledgeBase, concepts: int, most: int, ids: Sequence[str] = (), seed: int = 0
) -> DrawnNames:
    """Choose names to draw.

    concepts (int): how many concepts, drawn among those that have most names (an eighth of all, or
        ten times as many as are drawn). most (int): at most so many names of each.
    ids (Sequence[str]): these concepts instead.
    RAISES (MedlinkError): E111 for an id that the knowledge base lacks, E530 for too few names.
    """
    found = DrawnNames([], [])
    for row in _rows(kb, concepts, ids, seed):
        concept = kb.concept_at(row)
        names = list(dict.fromkeys(name.text for name in concept.names))[:most]
        found.names.extend(names)
        found.concepts.extend([concept.name] * len(names))
    if len(found.names) < _FEWEST:
        raise Errors.too_few_rows(
            path=kb.path, found=len(found.names), wanted=_FEWEST, what="names of these concepts"
        )
    return found


def _rows(kb: KnowledgeBase, concepts: int, ids: Sequence[str], seed: int) -> list[int]:
    if ids:
        known = {id: kb.resolve(id) for id in ids}
        for id, found in known.items():
            if found is None:
                raise Errors.unknown_concept(path=kb.path, id=id)
        return [kb[found].row for found in known.values() if found]
    counts = np.bincount(kb.name_concepts(), minlength=len(kb))
    among = np.argsort(-counts, kind="stable")[: max(10 * concepts, len(counts) // 8)]
    drawn = np.random.default_rng(seed).choice(among, min(concepts, len(among)), replace=False)
    return [int(row) for row in np.sort(drawn)]


def place(vectors: Floats2d, method: str = TSNE, seed: int = 0) -> Floats2d:
    """Give each vector a place in the plane: (n, 2).

    RAISES (MedlinkError): E531 for UMAP where it is not installed.
    """
    if method == UMAP:
        try:
            umap = import_module("umap")
        except ImportError as error:
            raise Errors.drawing_missing(lacking=lacking(error)) from error
        flat = umap.UMAP(metric="cosine", random_state=seed).fit_transform(vectors)
    else:
        from sklearn import manifold

        perplexity = min(_PERPLEXITY, (len(vectors) - 1) / 3)
        flat = manifold.TSNE(
            metric="cosine", init="random", perplexity=perplexity, random_state=seed
        ).fit_transform(vectors)
    return np.asarray(flat, dtype=np.float32)


def draw(path: Path, panels: Mapping[str, Floats2d], concepts: Sequence[str]) -> None:
    """Draw the points of one or more encoders beside each other, as PNG.

    panels (Mapping[str, Floats2d]): title to points (n, 2). concepts (Sequence[str]): of each.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_INCHES * len(panels), _INCHES + 1.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    order = list(dict.fromkeys(concepts))
    own = np.array([order.index(concept) for concept in concepts])
    for axis, (title, points) in zip(axes, panels.items(), strict=True):
        for number, concept in enumerate(order):
            members = points[own == number]
            axis.scatter(
                members[:, 0], members[:, 1], s=26, color=f"C{number % _COLOURS}",
                marker=_MARKERS[number // _COLOURS % len(_MARKERS)], linewidths=0.3,
                edgecolors="white", label=_short(concept),
            )  # fmt: skip
        axis.set(xticks=[], yticks=[])
        axis.set_title(title, fontsize="medium")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=2 * len(panels), fontsize="x-small",
        frameon=False,
    )  # fmt: skip
    # What a file says of the day and the library would make equal pictures differ.
    figure.savefig(path, dpi=_DPI, format="png", metadata={"Software": _SOFTWARE})


def separation(vectors: Floats2d, concepts: Sequence[str]) -> float | None:
    """Tell how often a name's nearest other name belongs to its concept, which a picture hints at.

    RETURNS (Optional[float]): among names that share their concept; None where none does.
    """
    own = np.array(concepts)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -np.inf)
    shared = np.array([(own == concept).sum() > 1 for concept in concepts])
    if not shared.any():
        return None
    return round(float((own[cosines.argmax(axis=1)] == own)[shared].mean()), 6)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
