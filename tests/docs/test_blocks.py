"""Every code block of the documentation runs; one that says why it does not is checked."""

import contextlib
import io
import json
import re
import shlex
import warnings
from pathlib import Path
from typing import Any

import pytest
from thinc.api import Config

from spacy_medlink.components.linker.settings import DEFAULT_CONFIG as LINKER
from spacy_medlink.components.mentions import DEFAULT_CONFIG as MENTIONS
from tests.docs import commands
from tests.docs.markdown import DOCS, PAGES, ROOT, Block, blocks_of
from tests.docs.workplace import furnish

SETTINGS = {"medical_linker": LINKER, "medical_mentions": MENTIONS}
_SHOWN = re.compile(r"`((?:medlink|python -m (?:training|benchmarks)[\w.]*) +[a-z-][^`]*)`")
LANGUAGES = {"python", "bash", "json", "ini", "text", "diff"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks(
    page: Path, tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks of a page run in their order, in one directory and one namespace."""
    blocks = blocks_of(page)
    furnish(tmp_path, tiny_encoder)
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks:
        try:
            _try(block, space)
        except BaseException as error:
            files = commands.tree(tmp_path)
            raise AssertionError(f"{block.place}: {error!r}; files: {files[:40]}") from error


def test_the_readme_links_with_the_file_that_it_shows(
    tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader who copies the lines of the page gets what its commands promise."""
    furnish(tmp_path, tiny_encoder)
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of(ROOT / "README.md")
    (lines,) = [block.text for block in blocks if block.language == "json"]
    Path("my_terms.jsonl").write_text(lines, encoding="utf-8")
    build = next(block for block in blocks if "my_terms.jsonl" in block.text)
    *builds, link = build.commands()
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


def _run_python(code: Any, space: dict[str, Any]) -> None:
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.filterwarnings("ignore", message=r"\[W101\]")
        exec(code, space)


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
