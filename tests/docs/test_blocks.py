"""Every code block of the documentation runs; one that says why it does not is checked."""

import contextlib
import io
import json
import re
import shlex
import shutil
import warnings
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from thinc.api import Config

from spacy_medlink.components.linker.settings import DEFAULT_CONFIG as LINKER
from spacy_medlink.components.mentions import DEFAULT_CONFIG as MENTIONS
from spacy_medlink.workbench import example
from spacy_medlink.workbench.example import FILES
from tests.docs import commands
from tests.docs.markdown import DOCS, PAGES, ROOT, Block, blocks_of

SETTINGS = {"medical_linker": LINKER, "medical_mentions": MENTIONS}
_SHOWN = re.compile(r"`((?:medlink|python -m (?:training|benchmarks)[\w.]*) +[a-z-][^`]*)`")
RESULTS = ROOT / "benchmarks" / "results"
LANGUAGES = {"python", "bash", "json", "ini", "text", "diff", "bibtex"}


@pytest.fixture(scope="module", autouse=True)
def encoder_of_the_example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """`medlink example` writes the same encoder for every page: it is made once, and copied."""
    made = tmp_path_factory.mktemp("example") / "made"
    example.write_example(made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            example, "write_encoder", lambda at, _: shutil.copytree(made / "my_model", at)
        )
        yield


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run in their order, in one empty directory and one namespace."""
    blocks = blocks_of(page)
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks:
        try:
            _try(block, space)
        except BaseException as error:
            files = commands.tree(tmp_path)
            raise AssertionError(f"{block.place}: {error!r}; files: {files[:40]}") from error


@pytest.mark.parametrize("page", [ROOT / "README.md", *DOCS], ids=lambda page: page.stem)
def test_a_page_says_how_to_get_the_files_of_its_blocks(page: Path) -> None:
    texts = [block.text for block in blocks_of(page) if block.language in ("python", "bash")]
    names = [name for name in FILES if name != "notes"]  # a word that may mean something else
    words = re.compile("|".join(rf"(?<![\w./]){re.escape(name)}(?![\w.])" for name in names))
    used = next((number for number, text in enumerate(texts) if words.search(text)), None)
    if used is not None:
        assert any("medlink example ." in text for text in texts[: used + 1])


def test_the_readme_links_with_the_file_that_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader who copies the lines of the page gets what its commands promise."""
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of(ROOT / "README.md")
    (lines,) = [block.text for block in blocks if block.language == "json"]
    build = next(block for block in blocks if "my_terms.jsonl" in block.text)
    first, *builds, link = build.commands()
    commands.run(first)
    Path("my_terms.jsonl").write_text(lines, encoding="utf-8")
    for words in builds:
        commands.run(words)
    said = commands.run(link)
    concept = json.loads(lines.splitlines()[0])
    assert concept["concept_id"] in said and concept["canonical_name"] in said


def _try(block: Block, space: dict[str, Any]) -> None:
    assert block.language in LANGUAGES, f"the block's language {block.language!r} says nothing"
    if block.language == "python":
        code = compile(block.text, block.place, "exec")
        if not block.not_run:
            _run_python(code, space)
    elif block.language == "bash":
        for words in block.commands():
            (commands.check if block.not_run else commands.run)(words)
    elif block.language == "json":
        for line in block.text.splitlines():
            json.loads(line)
    elif block.language == "ini":
        _check_config(block)


def _run_python(code: Any, space: dict[str, Any]) -> str:
    printed = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.filterwarnings("ignore", message=r"\[W101\]")
        exec(code, space)
    return printed.getvalue()


def _check_config(block: Block) -> None:
    """A config is read, and names no setting that there is not."""
    config = Config().from_str(_with_parents(block.text), interpolate=False)
    parts = {**config.get("components", {}), **config.get("initialize", {}).get("components", {})}
    for component in parts.values():
        known = SETTINGS.get(component.get("factory", ""))
        if known is not None:
            assert set(component) - {"factory"} <= set(known), block.place


def _with_parents(text: str) -> str:
    """Add the sections above those of an excerpt, which a whole config has."""
    own = re.findall(r"^\[(.+)\]$", text, re.MULTILINE)
    above = {".".join(name.split(".")[:n]) for name in own for n in range(1, name.count(".") + 1)}
    return "".join(f"[{name}]\n" for name in sorted(above - set(own))) + text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_within_sentences(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for line in _SHOWN.findall(text):
        words = shlex.split(line)
        # Whole are those of a verb without a placeholder, such as FILE, or words left out.
        is_whole = words[0] == "python" and not re.search(r"\b[A-Z]{2,}|\.\.\.", line)
        commands.check(words, is_whole and any(word.startswith("--") for word in words))


def test_what_cannot_be_typed_is_told() -> None:
    for line, problem in (
        ("medlink calibrate assets", "no command"),
        ("medlink build a.kb --encoders x --output b", "--encoders"),
        ("medlink build a.kb", "it needs --output"),
    ):
        with pytest.raises(AssertionError, match=problem):
            commands.check(shlex.split(line))


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            if not target.startswith(("http:", "https:")):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_nothing_says_to_install_the_project_from_an_index() -> None:
    """Somebody else could register its name there."""
    told = re.compile(r"pip install[^`\n]* ['\"]?spacy-medlink\b")
    sources = [(ROOT / room).rglob("*.py") for room in ("spacy_medlink", "training")]
    for path in chain(PAGES, *sources):
        assert not told.search(path.read_text(encoding="utf-8")), path


def test_the_first_example_prints_what_stands_under_it() -> None:
    blocks = blocks_of(ROOT / "README.md")
    first = next(number for number, block in enumerate(blocks) if block.language == "python")
    code = compile(blocks[first].text, "README.md", "exec")
    assert blocks[first + 1].language == "text"
    assert _run_python(code, {}) == blocks[first + 1].text


def test_figures_are_those_of_the_last_measurement() -> None:
    """A comment names the files of benchmarks/results that the next table or paragraph quotes.

    Figures with a point or of thousands are compared; numbers of mentions stand in brackets.
    """
    marked = 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for names, quoted in re.findall(r"<!-- figures: (.+?) -->\n((?:.+\n)+)", text):
            results = [json.loads((RESULTS / name).read_text("utf-8")) for name in names.split()]
            measured = {number for result in results for number in _numbers(result["rows"])}
            prose = re.sub(r"`.*?`|\]\(.*?\)|\([\d,]+\)|\b\d+\.\d+\.\d+", "", quoted)
            for figure in re.findall(r"(?<![\w.])\d+\.\d+|\d{1,3},\d{3}", prose):
                marked += 1
                digits = len(figure.partition(".")[2])
                said = float(figure.replace(",", ""))
                assert any(round(number, digits) == said for number in measured), (
                    f"{page.name}: {figure} is not in {names}"
                )
    assert marked > 50


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _numbers(inner)
    elif isinstance(value, int | float):
        yield float(value)
    elif isinstance(value, str):
        yield from map(float, re.findall(r"\d+\.\d+", value))


def test_paths_of_the_checkout_exist() -> None:
    path_like = re.compile(r"`((?:spacy_medlink|training|benchmarks|tests)/[a-z0-9_./]+)`")
    for page in PAGES:
        for path in path_like.findall(page.read_text(encoding="utf-8")):
            assert (ROOT / path).exists(), f"{page.name} names {path}"


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in DOCS:
        name = page.relative_to(ROOT / "docs").as_posix()
        assert name == "index.md" or f"({name})" in index, f"docs/index.md does not name {name}"
