"""Whatever writers are told to write wherever: every byte of the user's is found again.

Trees are drawn of files, directories, links of both kinds and outputs of ours with files of the
user among them; then verbs are run, with outputs chosen anywhere in the tree, above it and in it.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
import spacy
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.assets.learn import learn
from spacy_medlink.assets.variant import write_variant
from spacy_medlink.errors import MedlinkError
from spacy_medlink.evaluation.report.metrics_file import METRICS_FILE
from spacy_medlink.kb import KnowledgeBase, build_kb, build_knowledge_base
from spacy_medlink.util.files import save_text
from spacy_medlink.util.outputs import files_in
from tests.fits import mention_names
from tests.tiny import TINY_RECORDS
from training.corpora.convert import convert
from training.corpora.registry import find_corpus
from training.corpora.tally import Tally
from training.package import main as make_pipeline
from training.split import split_gold

GOLD = "".join(
    f'{{"doc_id": "{n}", "text": "Asthma", "mentions": '
    '[{"start": 0, "end": 6, "mention": "Asthma", "ids": ["HP:0002099"]}]}\n'
    for n in range(3)
)
TABLE = "id,name\nD1,Asthma\nD2,Fever\n"
# Some are names that writers use themselves.
NAMES = ("a", "b.csv", "c.kb", "gold.jsonl", "report.md", "assets", "exact", "reference.json")


class Ours(NamedTuple):
    """A knowledge base and assets to copy."""

    kb: Path
    assets: Path


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Ours:
    place = tmp_path_factory.mktemp("ours")
    build_kb(place / "kb", TINY_RECORDS[:4])
    build_assets(place / "assets", place / "kb")
    return Ours(place / "kb", place / "assets")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Tree:
    """A directory of the user's, with what each file and link of it says."""

    def __init__(self, root: Path, ours: Ours) -> None:
        self.root, self.ours = root, ours
        self.users: dict[Path, str] = {}
        self.outputs: list[Path] = []

    def add(self, draw: st.DataObject, kind: str = "") -> None:
        """Put something at a place that is free."""
        parent = draw.draw(st.sampled_from(self.plain() if kind else self.directories()))
        names = [name for name in NAMES if not os.path.lexists(parent / name)]
        if not names:
            return
        path = parent / draw.draw(st.sampled_from(names))
        kinds = ["file", "directory", "soft", "hard", "gold", "table", "kb", "assets"]
        kind = kind or draw.draw(st.sampled_from(kinds))
        if kind in ("file", "gold", "table"):
            texts = {"file": f"of the user {len(self.users)}", "gold": GOLD, "table": TABLE}
            path.write_text(texts[kind])
            self.users[path] = texts[kind]
        elif kind == "directory":
            path.mkdir()
        elif kind in ("soft", "hard"):
            self._link(draw, kind, path)
        elif kind == "kb":
            shutil.copy(self.ours.kb, path)
            self.outputs.append(path)
        else:
            shutil.copytree(self.ours.assets, path)
            self.outputs.append(path)
            within = path / "exact" / "thesis.txt"
            if text := draw.draw(st.sampled_from(["", "years of work", GOLD, TABLE])):
                within.write_text(text)
                self.users[within] = text

    def _link(self, draw: st.DataObject, kind: str, path: Path) -> None:
        there = [path for path in self.all() if kind == "soft" or path in self.users]
        there = [one for one in there if kind == "soft" or one.is_file()]
        if there:
            target = draw.draw(st.sampled_from(there))
            (path.symlink_to if kind == "soft" else path.hardlink_to)(target)
            self.users[path] = self._said(path)

    def directories(self) -> list[Path]:
        found = (path for path in self.root.rglob("*") if path.is_dir() and not path.is_symlink())
        return sorted([self.root, *found])

    def plain(self) -> list[Path]:
        """List the directories that are not ours."""
        ours = set(self.outputs)
        return [path for path in self.directories() if not ours & {path, *path.parents}]

    def all(self) -> list[Path]:
        return sorted([self.root, *self.root.rglob("*")])

    def inputs(self, wanted: Callable[[Path], bool]) -> list[Path]:
        return [path for path in self.all() if wanted(path)]

    @staticmethod
    def _said(path: Path) -> str:
        if path.is_symlink():
            return f"-> {path.readlink()}"
        return path.read_text(encoding="utf-8", errors="replace")

    def check(self, lost: Callable[[Path], bool] = lambda path: False) -> None:
        for path, said in self.users.items():
            if not lost(path):
                assert os.path.lexists(path), f"{path} is gone"
                assert self._said(path) == said, f"{path} says something else"


def state(path: Path) -> dict[str, str]:
    """Tell what an input holds, file by file."""
    if path.is_dir():
        return {name: digest(path / name) for name in files_in(path) if (path / name).is_file()}
    return {"": digest(path)} if path.is_file() else {}


class Call(NamedTuple):
    """A verb to run, what it reads, and what it may replace although it reads it."""

    run: Callable[[], object]
    inputs: list[Path]
    improves: Path | None = None


def is_ours(name: str) -> Callable[[Path], bool]:
    return lambda path: (path / name).is_file()


def calls(tree: Tree, draw: st.DataObject, out: Path, overwrite: bool) -> Call | None:
    """Draw a verb with inputs that the tree has; None where it has none."""

    def one(wanted: Callable[[Path], bool]) -> Path:
        found = tree.inputs(wanted)
        return draw.draw(st.sampled_from(found)) if found else tree.root / "missing"

    kb = one(lambda path: path.is_file() and path.read_bytes()[:6] == b"SQLite")
    assets = one(is_ours("manifest.json"))
    gold = one(lambda path: path.is_file() and path.read_bytes()[:9] == b'{"doc_id"')
    table = one(lambda path: path.is_file() and path.read_bytes()[:7] == b"id,name")

    def improve(verb: Callable[..., object], *given: Path) -> Call:
        own = Assets(assets)
        return Call(lambda: verb(own, out, *given, overwrite=overwrite), [*given], assets)

    def component(name: str) -> Call:
        pipe = spacy.blank("en").add_pipe(name, config={"assets": str(assets)})
        return Call(lambda: pipe.to_disk(out), [assets], assets)

    verbs: dict[str, Callable[[], Call]] = {
        "build": lambda: Call(
            lambda: build_assets(out, kb, dev=None, overwrite=overwrite), [kb]
        ),
        "update": lambda: Call(
            lambda: build_assets(out, kb, update=assets, overwrite=overwrite), [kb], assets
        ),
        "kb build": lambda: Call(
            lambda: build_knowledge_base(
                out=out, sources=[("csv", table)], overwrite=overwrite
            ),
            [table],
        ),
        "add-mentions": lambda: Call(
            lambda: mention_names(out, KnowledgeBase(kb), [gold], overwrite=overwrite),
            [kb, gold],
        ),
        "learn": lambda: improve(learn, gold),
        "variant": lambda: improve(lambda own, out, **more: write_variant(own, out, {}, **more)),
        "copy": lambda: Call(lambda: Assets(assets).copy_to(out), [], assets),
        "linker": lambda: component("medical_linker"),
        "finder": lambda: component("medical_mentions"),
        "package": lambda: Call(
            lambda: make_pipeline(
                assets, out, lang="en", cui_scheme=None, name="x", version="1",
                overwrite=overwrite,
            ),
            [assets],
        ),
        "metrics": lambda: Call(
            lambda: save_text(
                out, METRICS_FILE, '{"format": "spacy-medlink metrics"}', [gold],
                overwrite=overwrite,
            ),
            [gold],
        ),
        "split": lambda: Call(
            lambda: split_gold(gold, out, tree.root / "apart", 0.5, 0, overwrite), [gold]
        ),
        "convert": lambda: Call(
            lambda: convert(
                find_corpus("biosyn"), table, out, Tally(False), overwrite=overwrite
            ),
            [table],
        ),
    }  # fmt: skip
    with suppress(MedlinkError):
        return verbs[draw.draw(st.sampled_from(sorted(verbs)))]()
    return None


@contextmanager
def at(place: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(place)
    try:
        yield
    finally:
        os.chdir(before)


def play(ours: Ours, data: st.DataObject, may_overwrite: bool) -> None:
    with TemporaryDirectory() as place:
        root = Path(place).resolve() / "root"
        root.mkdir()
        tree = Tree(root, ours)
        for kind in ("kb", "assets", "gold", "table"):  # so that most verbs have what they need
            tree.add(data, kind)
        for _ in range(data.draw(st.integers(0, 7))):
            tree.add(data)
        here = data.draw(st.sampled_from(tree.directories()))
        with at(here):
            for _ in range(data.draw(st.integers(1, 3))):
                step(tree, data, may_overwrite)
            assert here.stat().st_ino == Path().stat().st_ino, "where we are was replaced"


def step(tree: Tree, data: st.DataObject, may_overwrite: bool) -> None:
    new = [directory / name for directory in tree.directories() for name in ("new", "new/deep")]
    likely = [*tree.outputs, *tree.users, *tree.plain(), *new[:2]]
    anywhere = [*tree.all(), *new, tree.root.parent]
    out = data.draw(st.sampled_from(likely) | st.sampled_from(anywhere))
    call = calls(tree, data, out, may_overwrite)
    if call is None:
        return
    took_the_place = call.improves is not None and out.resolve() == call.improves.resolve()
    before = {path: state(path) for path in call.inputs if not (took_the_place and path == out)}
    with suppress(MedlinkError):
        call.run()
    for path, said in before.items():
        same = path == call.improves and took_the_place
        assert same or said.items() <= state(path).items(), f"the input {path} has changed"
    # What lay in an output of ours may go when that was asked for; nothing else may.
    may_go = {path for path in tree.users if path == out or out in path.parents}
    gone = may_go if may_overwrite else set()
    tree.check(lambda path: path in gone)
    tree.users = {path: said for path, said in tree.users.items() if path not in gone}


FEW = settings(
    max_examples=12,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],  # each example builds: to shrink one takes minutes
)
MANY = [pytest.mark.slow, pytest.mark.timeout(3600)]


@pytest.mark.parametrize("times", [1, pytest.param(50, marks=MANY)])
@pytest.mark.parametrize("may_overwrite", [False, True])
@FEW
@given(data=st.data())
def test_every_byte_is_found_again(ours, may_overwrite, times, data):
    for _ in range(times):
        play(ours, data, may_overwrite)
