"""What was fitted to names stays while nearly all names do, and nothing else has changed."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from spacy_medlink.assets import Assets, build, build_assets, fits
from spacy_medlink.assets.fits import CHANGED, count_changed
from spacy_medlink.assets.manifest import CALIBRATOR
from spacy_medlink.assets.variant import write_variant
from spacy_medlink.cli.app import app
from spacy_medlink.fitting.weights import DEFAULT_WEIGHTS
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.types import Concept, Mention, Name
from tests.fits import calibrated_on
from tests.lines import write_lines
from tests.tiny import write_tiny_encoder

SYLLABLES = "ba da fo gi ka le mu no pa ri".split()
PAIRS = [(f"{a}{b}", f"{b}{a}itis") for a in SYLLABLES for b in SYLLABLES]
NAMES = 2 * len(PAIRS)
ON_NAMES = {"names": "of the knowledge base"}


def write_kb(path: Path, new: int = 0, first: int = 0) -> Path:
    """Write a hundred concepts of two names; the first ones lose one, and get `new` others."""
    names = [[f"{site} {kind}", f"{kind} of the {site}"] for site, kind in PAIRS]
    for number in range(new):
        names[number][1] = f"lesion {first + number} of the {PAIRS[number][0]}"
    build_kb(path, [Concept(f"C{n}", own[0], tuple(map(Name, own))) for n, own in enumerate(names)])
    return path


def write_gold(path: Path) -> Path:
    mentions = [(f"{kind} {site}", f"C{n}") for n, (site, kind) in enumerate(PAIRS)]
    mentions += [(f"{kind} of {site}", f"C{n}") for n, (site, kind) in enumerate(PAIRS)]
    return write_lines(path, *({"mention": text, "ids": [id]} for text, id in mentions))


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_kb(tmp_path_factory.mktemp("kb") / "old.kb")


@pytest.fixture(scope="module")
def next_kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_kb(tmp_path_factory.mktemp("kb") / "next.kb", new=3)


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory, kb: Path, tiny_encoder: Path) -> Assets:
    """Assets that ask the encoder, though it is random: their weights are stated."""
    path = tmp_path_factory.mktemp("dense") / "old"
    return build_assets(path, kb, tiny_encoder, weights=DEFAULT_WEIGHTS)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, kb: Path) -> Assets:
    return build_assets(tmp_path_factory.mktemp("plain") / "old", kb)


@pytest.fixture
def no_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever would be fitted, fails."""
    for name in ("fit_on_names", "fit_gate"):
        monkeypatch.setattr(build, name, None)
    monkeypatch.setattr(build.RetrievedExamples, "__init__", None)


def since(assets: Assets) -> list[int | None]:
    """Get the names changed since calibrator and gate were fitted; None if they just were."""
    return [(assets.manifest[part] or {}).get(CHANGED) for part in ("calibrator", "gate")]


def probabilities(assets: Assets, texts: Iterable[str]) -> list[float | None]:
    decided = assets.engine().decide([Mention(text) for text in texts])
    return [one.link.prob if one.link else None for one in decided]


@pytest.mark.usefixtures("no_fit")
def test_few_changed_names_keep_all(dense: Assets, next_kb: Path, tmp_path: Path) -> None:
    made = build_assets(tmp_path / "new", next_kb, update=dense.path)
    for part in ("calibrator", "gate"):
        assert made.manifest[part] == {**dense.manifest[part], CHANGED: 6}, "3 lost, 3 added"
    assert (made.path / CALIBRATOR).read_bytes() == (dense.path / CALIBRATOR).read_bytes()
    assert Assets(made.path, verify=True).engine(calibrator=True).parts.calibrator is not None
    texts = ["lesion 1 of the bada", "bada dabaitis", "bada dabaitid", "gout"]
    # The concept may have more or fewer names, of which probabilities know.
    assert probabilities(made, texts)[1] == pytest.approx(probabilities(dense, texts)[1], abs=1e-3)


def test_an_update_is_a_build_but_for_what_it_keeps(
    plain: Assets, next_kb: Path, tmp_path: Path
) -> None:
    update, whole = (
        build_assets(tmp_path / name, next_kb, update=old).manifest
        for name, old in (("update", plain.path), ("whole", None))
    )
    assert update["calibrator"].pop(CHANGED) == 6
    for facts in (update, whole):
        facts["calibrator"] = facts["calibrator"].keys()
        facts["files"].pop(CALIBRATOR)
    assert update == whole


def test_small_updates_add_up(plain: Assets, tmp_path: Path) -> None:
    own, found = plain, []
    for turn in range(1, 5):  # each time six of 200 names are others
        kb = write_kb(tmp_path / f"{turn}.kb", new=3, first=3 * turn)
        own = build_assets(tmp_path / "own", kb, update=own.path)
        found.append(since(own)[0])
    assert found == [6, 12, 18, None], "from 20 on it is fitted anew"
    assert fits.MOST_CHANGED * NAMES == 20


def test_a_fit_counts_from_its_own_names(dense: Assets, tmp_path: Path, next_kb: Path) -> None:
    made = build_assets(tmp_path / "new", next_kb, update=dense.path)
    gold = write_gold(tmp_path / "gold.jsonl")
    made = calibrated_on(made, made.path, gold, target_precision=0.3).assets
    assert since(made) == [None, 6]
    made = build_assets(tmp_path / "new", write_kb(tmp_path / "kb", 2), update=made.path)
    assert since(made) == [2, 8]
    assert made.manifest["calibrator"]["fitted_on"]["file"] == "gold.jsonl", "which is worth more"


@pytest.mark.parametrize("what", ["memory", "dev", "index", "encoder", "version"])
def test_what_else_is_new_is_fitted_for(
    what: str, dense: Assets, next_kb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: dict[str, Any] = {}
    if what == "encoder":
        settings["encoder"] = tmp_path / "encoder"
        settings["encoder"].mkdir()
        write_tiny_encoder(settings["encoder"], seed=1)
        settings["weights"] = DEFAULT_WEIGHTS
    elif what in ("memory", "dev"):
        gold = write_gold(tmp_path / "gold.jsonl")
        settings[what] = [gold] if what == "memory" else gold
    else:
        settings |= {"index": {"index": "HNSW8"}}.get(what, {})
    if what == "version":
        versions = {**dense.manifest["versions"], "spacy-medlink": "0"}
        dense = write_variant(dense, tmp_path / "earlier", {"versions": versions})
    made = build_assets(tmp_path / "new", next_kb, update=dense.path, **settings)
    assert since(made) == [None, None] and made.manifest["gate"] is not None
    assert made.engine(calibrator=True).parts.calibrator is not None


def test_fits_for_other_scores_are_not_kept(dense: Assets, next_kb: Path, tmp_path: Path) -> None:
    """As those of assets with a ranker, which an update does not have."""
    gate = dense.manifest["gate"]
    for_others = {**gate, "fitted_for": {**gate["fitted_for"], "reranker": "a ranker"}}
    odd = write_variant(dense, tmp_path / "odd", {"gate": for_others})
    assert since(build_assets(tmp_path / "new", next_kb, update=odd.path)) == [6, None]


def test_a_damaged_calibrator_is_fitted_anew(plain: Assets, next_kb: Path, tmp_path: Path) -> None:
    plain.copy_to(tmp_path / "old")
    file = tmp_path / "old" / CALIBRATOR
    content = file.read_bytes()
    file.unlink()  # it is one with that of the other assets
    file.write_bytes(content.replace(b"0.", b"1.", 1))
    made = build_assets(tmp_path / "new", next_kb, update=tmp_path / "old")
    assert since(made)[0] is None
    assert (made.path / CALIBRATOR).read_bytes() != file.read_bytes()


def test_assets_without_a_calibrator_get_one(kb: Path, tmp_path: Path) -> None:
    old = build_assets(tmp_path / "old", kb, calibrate=False)
    made = build_assets(tmp_path / "new", kb, update=old.path)
    assert made.manifest["calibrator"]["fitted_on"] == ON_NAMES and since(made)[0] is None


def test_the_command_says_what_is_kept(dense: Assets, next_kb: Path, tmp_path: Path) -> None:
    out = tmp_path / "new"
    arguments = ["build", str(next_kb), "--update", str(dense.path), "--output", str(out)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    lines = [line for line in done.output.splitlines() if line.startswith(("threshold", "gate"))]
    assert [line.partition("; ")[2] for line in lines] == ["kept, 6 names have changed since"] * 2


@pytest.mark.parametrize("seed", range(20))
def test_changed_names_are_those_of_one_side(seed: int, tmp_path: Path) -> None:
    generator = np.random.default_rng(seed)
    bases, found = [], []
    for number in range(2):
        size = int(generator.integers(0, 60))
        own = {f"C{generator.integers(9)}": [] for _ in range(9)}
        for _ in range(size):
            own[str(generator.choice(list(own)))].append(f"n{generator.integers(30)}")
        records = [
            Concept(id, texts[0], tuple(map(Name, texts))) for id, texts in own.items() if texts
        ]
        build_kb(tmp_path / str(number), records)
        bases.append(KnowledgeBase(tmp_path / str(number)))
        found.append({(concept.id, name.text) for concept in bases[-1] for name in concept.names})
    assert count_changed(*bases) >= len(found[0] ^ found[1])
    distinct = all(len(own) == base.n_names for own, base in zip(found, bases, strict=True))
    assert not distinct or count_changed(*bases) == len(found[0] ^ found[1])
