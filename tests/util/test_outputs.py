"""What writers may replace: the cases that once destroyed something, kinds, and links."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest
import spacy
from typer.testing import CliRunner

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.assets.learn import learn
from spacy_medlink.assets.manifest import ASSETS
from spacy_medlink.cli.app import app
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, build_kb, build_knowledge_base
from spacy_medlink.kb.schema import KB
from spacy_medlink.util.beside import only_one
from spacy_medlink.util.files import replacing_directory, replacing_file
from spacy_medlink.util.held import Held
from spacy_medlink.util.outputs import (
    FILES,
    DirectoryKind,
    FileKind,
    check_output,
    companion,
    files_in,
    marked,
)
from tests.fits import mention_names
from tests.tables import table
from tests.tiny import TINY_RECORDS

TEST = DirectoryKind("a test")
SOURCE = "id,name\nD1,Asthma\nD2,Fever\n"
GOLD = '{"text": "Asthma", "mentions": [{"start": 0, "end": 6, "ids": ["HP:0002099"]}]}\n'


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    build_kb(tmp_path / "own.kb", TINY_RECORDS)
    return tmp_path / "own.kb"


@pytest.fixture
def assets(tmp_path: Path, kb: Path) -> Assets:
    return build_assets(tmp_path / "own", kb)


def refused(code: str, *words: str) -> "pytest.RaisesExc":
    pattern = ".*".join([rf"^\[{code}\]", *words])
    return pytest.raises(MedlinkError, match=pattern)


class TestTheCasesThatDestroyed:
    """Each was lost once."""

    def test_a_thesis_in_a_directory(self, tmp_path, kb):
        (tmp_path / "dirtest").mkdir()
        (tmp_path / "dirtest" / "thesis.txt").write_text("years of work")
        with refused("E120", "dirtest", r"thesis\.txt"):
            build_assets(tmp_path / "dirtest", kb)
        assert (tmp_path / "dirtest" / "thesis.txt").read_text() == "years of work"

    def test_a_thesis_beside_assets_of_ours(self, tmp_path, kb, assets):
        (assets.path / "notes").mkdir()
        (assets.path / "notes" / "thesis.txt").write_text("years of work")
        with refused("E121", r"notes/thesis\.txt", "--overwrite"):
            build_assets(assets.path, kb)
        assert (assets.path / "notes" / "thesis.txt").read_text() == "years of work"
        build_assets(assets.path, kb, overwrite=True)
        assert not (assets.path / "notes").exists()

    def test_the_project_with_the_knowledge_base_in_it(self, tmp_path, kb, monkeypatch):
        monkeypatch.chdir(tmp_path)
        done = CliRunner().invoke(app, ["build", kb.name, "--output", "."])
        assert done.exit_code == 1 and "[E122]" in done.output and kb.name in done.output
        done = CliRunner().invoke(app, ["build", "starter", "--output", "."])
        assert done.exit_code == 1 and "[E123]" in done.output
        assert KnowledgeBase(kb)["HP:0002099"]

    @pytest.mark.parametrize("overwrite", [False, True])
    def test_the_knowledge_base_as_its_own_assets(self, kb, overwrite):
        with refused("E122", r"own\.kb"):
            build_assets(kb, kb, overwrite=overwrite)
        assert KnowledgeBase(kb)["HP:0002099"]

    def test_documents_by_what_improves_assets(self, tmp_path, assets):
        documents, gold = tmp_path / "mydocs", tmp_path / "gold.jsonl"
        documents.mkdir()
        (documents / "letter.docx").write_bytes(b"dear")
        gold.write_text(GOLD)
        with refused("E120", "mydocs", r"letter\.docx"):
            learn(assets, documents, gold)
        assert files_in(documents) == ["letter.docx"]

    @pytest.mark.parametrize("overwrite", [(), ("--overwrite",)])
    def test_the_only_source(self, tmp_path, overwrite):
        table = tmp_path / "t.csv"
        table.write_text(SOURCE)
        arguments = ["kb", "build", str(table), "--from", "csv", "--output", str(table), *overwrite]
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 1 and "[E122]" in done.output
        assert table.read_text() == SOURCE

    def test_the_missing_assets_are_not_to_be_built_over_what_is_there(self, kb):
        with refused("E201", "medlink build KB"):
            Assets(kb)


class TestInputs:
    """Whatever leads to an input keeps it."""

    @pytest.mark.parametrize("link", ["hard", "soft"])
    def test_links_to_an_input(self, tmp_path, link):
        table, out = tmp_path / "t.csv", tmp_path / "out.kb"
        table.write_text(SOURCE)
        (out.hardlink_to if link == "hard" else out.symlink_to)(table)
        with refused("E122"):
            build_knowledge_base(out=out, sources=[("csv", table)], overwrite=True)
        assert table.read_text() == out.read_text() == SOURCE

    @table(__file__, "a_link_to_itself_as_source")
    def test_a_link_to_itself_as_source(self, tmp_path, arguments):
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        words = arguments.replace("LOOP", f"{tmp_path}/loop").replace("OUT", f"{tmp_path}/o")
        done = CliRunner().invoke(app, words.split())
        assert done.exit_code == 1 and "[E" in done.stderr, done.output

    def test_an_input_in_the_output(self, tmp_path, kb, assets):
        gold = assets.path / "gold.jsonl"
        gold.write_text(GOLD)
        (tmp_path / "linked.jsonl").symlink_to(gold)
        for given in (gold, tmp_path / "linked.jsonl"):
            with refused("E122"):
                learn(assets, assets.path, given, overwrite=True)
        (assets.path / "gold.jsonl").unlink()
        (assets.path / "gold.jsonl").symlink_to(kb)
        with refused("E122"):
            build_assets(assets.path, assets.path / "gold.jsonl", overwrite=True)

    def test_a_file_of_an_input_directory_is_not_overwritten(self, tmp_path):
        release = tmp_path / "release"
        release.mkdir()
        (release / "names.csv").write_text(SOURCE)
        with refused("E124"):
            check_output(release / "names.csv", KB, [release], overwrite=True)
        build_kb(release / "own.kb", TINY_RECORDS)
        check_output(release / "own.kb", KB, [release])
        check_output(release / "new.kb", KB, [release])

    def test_filters_and_rules_are_inputs(self, tmp_path):
        table, ids = tmp_path / "t.csv", tmp_path / "ids.txt"
        table.write_text(SOURCE)
        ids.write_text("D1\n")
        arguments = ["kb", "build", str(table), "--from", "csv", "--output", str(ids)]
        done = CliRunner().invoke(app, [*arguments, "--allow-ids", str(ids), "--overwrite"])
        assert done.exit_code == 1 and "[E122]" in done.output
        assert ids.read_text() == "D1\n"

    def test_a_name_on_the_hub_is_no_file(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        check_output("model", ASSETS, ["model"])

    def test_the_next_of_its_kind_may_take_the_place(self, tmp_path, kb, assets):
        build_assets(assets.path, kb, update=assets.path)
        table = tmp_path / "t.csv"
        table.write_text(SOURCE)
        build_knowledge_base(out=kb, sources=[("csv", table)], update=kb)
        with refused("E122"):
            check_output(tmp_path, ASSETS, improves=assets.path)

    def test_mentions_are_not_added_in_place(self, tmp_path, kb):
        (tmp_path / "gold.jsonl").write_text(GOLD)
        with refused("E122"):
            mention_names(kb, KnowledgeBase(kb), [tmp_path / "gold.jsonl"], overwrite=True)


DIR, OURS = "a directory", "one that we wrote"
PAGE = marked("a page", "<made by us>")
BESIDE_PAGE = companion("a table", PAGE, Path("page"))


def grow(root: Path, tree: dict[str, str]) -> None:
    """Make files and directories: what they hold, or "-> x" for a link to x in the root."""
    for name, what in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if what == DIR:
            path.mkdir()
        elif what == OURS:
            with replacing_directory(path, TEST) as new:
                (new / "a").touch()
        elif what.startswith("-> "):
            path.symlink_to(root / what[3:])
        else:
            path.write_text(what)


@pytest.mark.parametrize(
    ("tree", "kind", "overwrite", "error"),
    [
        ({}, TEST, False, ""),
        ({"out/deep": DIR}, TEST, False, ""),
        ({"out": OURS}, DirectoryKind("another"), False, "E120"),
        ({"out": OURS, "out/.DS_Store": ""}, TEST, False, ""),
        ({"docs": DIR, "out": OURS, "out/docs": "-> docs"}, TEST, False, "E121.*docs"),
        ({"out": "mine"}, TEST, True, "E120.*a file"),
        ({"out": "-> unmounted"}, TEST, True, "E120.*unmounted"),
        ({f"out/{letter}": "" for letter in "abcde"}, TEST, False, "E120.*a, b, c and 2 more"),
        *(
            ({"out/manifest.json": found}, ASSETS, True, "E120")
            for found in ("x", "[]", "{}", '{"files": 1}', '{"schema": 1}')
        ),
        ({"out": DIR}, marked("a test", ""), True, "E120"),
        ({"out": "-> ../../../../../../../dev/null"}, marked("a test", ""), True, "E120"),
        ({"out": "mine", "page": ""}, BESIDE_PAGE, False, "E124"),
        ({"out": "mine", "page": "<made by us>"}, BESIDE_PAGE, False, ""),
    ],
)  # fmt: skip
def test_what_may_be_replaced(tmp_path, monkeypatch, tree, kind, overwrite, error):
    root = tmp_path / "root"
    root.mkdir()
    monkeypatch.chdir(root)
    grow(root, tree)
    before = files_in(root)
    if error:
        with refused(*error.split(".*")):
            check_output(root / "out", kind, overwrite=overwrite)
    else:
        check_output(root / "out", kind, overwrite=overwrite)
    assert files_in(root) == before


def test_where_we_are_and_live(tmp_path, monkeypatch):
    (tmp_path / "home" / "work").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "home" / "work")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "home" / "work")
    for place in (".", "..", "/", tmp_path, tmp_path / "home", Path.cwd(), tmp_path / "link"):
        with refused("E123"):
            check_output(place, TEST, overwrite=True)
    check_output("new", TEST)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
def test_where_nobody_may_look(tmp_path):
    (tmp_path / "out" / "locked").mkdir(parents=True)
    (tmp_path / "out" / "locked").chmod(0)
    with refused("E109"):
        check_output(tmp_path / "out", TEST)


def test_again_over_our_own(tmp_path, kb):
    for letter in "ab":
        with replacing_directory(tmp_path / "out", TEST) as path:
            (path / "deep").mkdir()
            (path / "deep" / letter).write_text(letter)
    assert files_in(tmp_path / "out") == ["deep/b", FILES]
    build_kb(kb, TINY_RECORDS)
    (tmp_path / "notes.txt").write_text("mine")
    with refused("E124", r"notes\.txt", "--overwrite"):
        build_kb(tmp_path / "notes.txt", TINY_RECORDS)
    build_kb(tmp_path / "notes.txt", TINY_RECORDS, overwrite=True)
    assert KnowledgeBase(tmp_path / "notes.txt")["HP:0002099"]


def test_without_a_mark_only_equal_bytes(tmp_path):
    plain, out = FileKind("a test"), tmp_path / "out.jsonl"
    for _ in range(2):
        with replacing_file(out, plain) as path:
            path.write_text("equal")
    with refused("E124"), replacing_file(out, plain) as path:
        path.write_text("other")
    assert out.read_text() == "equal"
    with replacing_file(out, plain, overwrite=True) as path:
        path.write_text("other")
    assert out.read_text() == "other"


def test_what_comes_while_we_write(tmp_path):
    with refused("E120", "late"), replacing_directory(tmp_path / "out", TEST) as path:
        (path / "a").touch()
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "late").write_text("mine")
    with refused("E124"), replacing_file(tmp_path / "out.kb", KB) as path:
        path.write_text("ours")
        (tmp_path / "out.kb").write_text("mine")
    assert files_in(tmp_path) == ["out.kb", "out/late"]
    assert (tmp_path / "out.kb").read_text() == "mine"


class TestComponents:
    """`to_disk` writes a few names into a directory of the user's."""

    def linker(self, assets, **config):
        return spacy.blank("en").add_pipe(
            "medical_linker", config={"assets": str(assets.path), **config}
        )

    def test_directories_of_the_same_names(self, tmp_path, assets):
        docs = tmp_path / "docs"
        for name in ("assets", "exact"):
            (docs / name).mkdir(parents=True)
            (docs / name / "mine.txt").write_text("mine")
        with refused("E120", r"mine\.txt"):
            self.linker(assets).to_disk(docs)
        finder = spacy.blank("en").add_pipe("medical_mentions", config={"assets": str(assets.path)})
        with refused("E120", r"mine\.txt"):
            finder.to_disk(docs)
        with refused("E120", r"mine\.txt"):
            finder.to_disk(docs, exclude=[])
        assert [name for name in files_in(docs) if not name.endswith("mine.txt")] == []

    @pytest.mark.parametrize("name", ["reference.json", "lexicon.tsv"])
    @pytest.mark.parametrize("copied", [False, True])
    def test_files_of_the_same_names(self, tmp_path, assets, name, copied):
        lexicon = tmp_path / "own.tsv"
        lexicon.write_text("RA\trheumatoid arthritis\n")
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs" / name).write_text(json.dumps({"mine": 1}))
        linker = self.linker(assets, lexicon=str(lexicon), copy_assets=copied)
        with refused("E124", name):
            linker.to_disk(tmp_path / "docs")
        assert (tmp_path / "docs" / name).read_text() == '{"mine": 1}'

    @pytest.mark.parametrize("copied", [False, True])
    def test_saving_again_and_in_place(self, tmp_path, assets, copied):
        lexicon = tmp_path / "own.tsv"
        lexicon.write_text("RA\trheumatoid arthritis\n")
        nlp = spacy.blank("en")
        config = {"assets": str(assets.path)}
        nlp.add_pipe("medical_mentions", config=config)
        nlp.add_pipe(
            "medical_linker", config={**config, "lexicon": str(lexicon), "copy_assets": copied}
        )
        for _ in range(2):
            nlp.to_disk(tmp_path / "pipeline")
            nlp = spacy.load(tmp_path / "pipeline")
        nlp.get_pipe("medical_linker").copy_assets = not copied
        nlp.to_disk(tmp_path / "pipeline")
        doc = spacy.load(tmp_path / "pipeline")("He has asthma.")
        assert [entity._.kb_ents[0][0] for entity in doc.ents] == ["HP:0002099"]


def _long(tmp_path: Path, size: int) -> Path:
    """Name a path of so many bytes, of which no part is too long for a file system."""
    name = "ä" * 10
    rest = size - len(os.fsencode(tmp_path)) - 2 - len(name.encode())
    parts = ["d" * 100] * ((rest - 1) // 101)
    return tmp_path.joinpath(*parts, "e" * (rest - 101 * len(parts)), name)


@pytest.mark.parametrize("database", [KB, ASSETS])
def test_a_path_too_long_for_sqlite_is_refused_before_all_else(
    tmp_path: Path, kb: Path, database: FileKind | DirectoryKind
) -> None:
    """SQLite opens up to 512 bytes, a journal takes 8, and a build is written beside its place."""
    twice = [TINY_RECORDS[0], *TINY_RECORDS, TINY_RECORDS[0]]  # pieces make a second file
    worked: list[int] = []
    for size in (*range(450, 462), 511, 512, 513, 600):
        out = _long(tmp_path, size)
        assert len(os.fsencode(out)) == size
        try:
            check_output(out, database)
        except MedlinkError as error:
            assert error.code == "E109" and "SQLite" in error.message
            assert not out.parent.exists()
            continue
        if database is KB:
            build_kb(out, twice)
            KnowledgeBase(out)
        else:
            build_assets(out, kb)
            Assets(out)
        worked.append(size)
        shutil.rmtree(tmp_path / ("d" * 100))
    assert worked == list(range(450, worked[-1] + 1))  # and none behind the first that is refused
    with pytest.raises(MedlinkError, match=r"E109.*SQLite"):
        build_knowledge_base(out=_long(tmp_path, 513), sources=[("obo", tmp_path / "no such")])


def test_other_files_may_have_long_paths(tmp_path: Path) -> None:
    check_output(_long(tmp_path, 600), FileKind("a table"))


def test_a_reader_keeps_no_writer_waiting_that_writes_within(tmp_path):
    (tmp_path / "manifest.json").write_text("{}")
    reader, began = Held(tmp_path), time.monotonic()
    with only_one(tmp_path):
        assert time.monotonic() - began < 5 and reader.is_at(tmp_path)
