from pathlib import Path

import numpy as np
import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase
from training.representations.picture import choose_names, draw, place, separation

image = pytest.importorskip("matplotlib.image")
GROUPS = [concept for concept in ("one", "two", "three") for _ in range(8)]


def _vectors() -> np.ndarray:
    """Three tight groups of vectors."""
    random = np.random.default_rng(0)
    centres = np.eye(3, 16).repeat(8, axis=0)
    vectors = centres + 0.02 * random.standard_normal((24, 16))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_groups_stay_together_in_the_plane() -> None:
    points = place(_vectors(), seed=1)
    assert points.shape == (24, 2)
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    groups = np.array(GROUPS)
    assert (groups[distance.argmin(axis=1)] == groups).all()
    assert np.array_equal(points, place(_vectors(), seed=1))


def test_umap_says_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(MedlinkError, match=r"E531.*pip install umap-learn"):
        place(_vectors(), "umap")


def test_the_picture_has_a_colour_for_each_concept(tmp_path: Path) -> None:
    points = np.array([[0, 0], [4, 4], [8, 0]], dtype=np.float32).repeat(8, axis=0)
    draw(tmp_path / "a.png", {"base": points, "trained": points}, GROUPS)
    draw(tmp_path / "b.png", {"base": points, "trained": points}, GROUPS)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    pixels = (255 * image.imread(tmp_path / "a.png")[:, :, :3]).round().astype(int)
    colours = {tuple(colour) for colour in pixels.reshape(-1, 3).tolist()}
    # The first three of matplotlib's tab10.
    assert {(31, 119, 180), (255, 127, 14), (44, 160, 44)} <= colours


def test_separation() -> None:
    vectors = _vectors()
    assert separation(vectors, GROUPS) == 1.0
    mixed = [str(number % 2) for number in range(24)]
    assert (separation(vectors, mixed) or 0) < 0.8
    assert separation(vectors[:3], ["a", "b", "c"]) is None


def test_names_of_the_concepts_that_were_asked_for(tiny_kb: KnowledgeBase) -> None:
    found = choose_names(tiny_kb, 2, 3, ids=["HP:0001945", "HP:0005965"])
    assert found.concepts == ["Fever"] * 3 + ["Type II diabetes mellitus"] * 3
    assert found.names[:2] == ["Fever", "Pyrexia"]
    with pytest.raises(MedlinkError, match="E106"):
        choose_names(tiny_kb, 2, 3, ids=["HP:7"])


def test_concepts_are_drawn(tiny_kb: KnowledgeBase) -> None:
    found = choose_names(tiny_kb, 4, 2, seed=5)
    assert len(set(found.concepts)) == 4
    assert found == choose_names(tiny_kb, 4, 2, seed=5) != choose_names(tiny_kb, 4, 2, seed=6)
    with pytest.raises(MedlinkError, match="E530"):
        choose_names(tiny_kb, 1, 1)
