"""Every verb that writes: again over its own output just works, over the user's it does not."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spacy_medlink.cli.app import app
from spacy_medlink.kb import build_kb
from tests.lines import note, write_lines
from tests.tiny import TINY_RECORDS

NAMED = [("Asthma", "HP:0002099"), ("Fever", "HP:0001945"), ("Headache", "HP:0002315")]
GOLD = [note(f"{one[0]} again", one, doc_id=str(n)) for n, one in enumerate(NAMED)]
SCISPACY = {"concept_id": "C1", "canonical_name": "Asthma", "aliases": ["asthma"], "types": []}

# Verb: what is written (relative to the place), and the arguments; "{}" is the place.
FILES: dict[str, tuple[str, list[str]]] = {
    "kb build": ("new.kb", ["kb", "build", "{}/t.csv", "--from", "csv", "--output", "{}/new.kb"]),
    "add-mentions": (
        "more", ["kb", "add-mentions", "{}/own.kb", "{}/gold.jsonl", "--output", "{}/more"],
    ),
    "import": ("in.kb", ["import", "scispacy-kb", "{}/scispacy.jsonl", "--output", "{}/in.kb"]),
    "evaluate": ("m.json", ["evaluate", "{}/own", "{}/gold.jsonl", "--output", "{}/m.json"]),
    "report": ("report/report.html", ["report", "{}/metrics.json", "--output", "{}/report"]),
}  # fmt: skip
DIRECTORIES: dict[str, list[str]] = {
    "build": ["build", "{}/own.kb", "--output", "{}/new"],
    "learn": ["learn", "{}/own", "{}/gold.jsonl", "--output", "{}/new"],
}

Run = Callable[..., str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made")
    (place / "t.csv").write_text("id,name\nD1,Asthma\n")
    write_lines(place / "gold.jsonl", *GOLD)
    (place / "scispacy.jsonl").write_text(json.dumps(SCISPACY) + "\n")
    build_kb(place / "own.kb", TINY_RECORDS)
    for arguments in (
        ["build", "{}/own.kb", "--output", "{}/own"],
        ["evaluate", "{}/own", "{}/gold.jsonl", "--output", "{}/metrics.json"],
    ):
        call(place, arguments)
    return place


def call(place: Path, arguments: list[str], *more: str, code: int = 0) -> str:
    given = [one.replace("{}", str(place)) for one in arguments]
    done = CliRunner().invoke(app, [*given, *more])
    assert done.exit_code == code, done.output
    return done.output


@pytest.mark.parametrize("verb", FILES)
def test_a_file_of_the_user(made: Path, verb: str) -> None:
    name, arguments = FILES[verb]
    out = made / name
    out.parent.mkdir(exist_ok=True)
    out.write_text("years of work")
    said = call(made, arguments, code=1)
    assert "[E124]" in said and name in said and "--overwrite" in said
    assert out.read_text() == "years of work"
    call(made, arguments, "--overwrite")
    assert b"years of work" not in out.read_bytes()
    call(made, arguments)  # again, over our own
    assert not [path for path in made.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("verb", DIRECTORIES)
def test_a_directory_of_the_user(made: Path, verb: str) -> None:
    arguments = DIRECTORIES[verb]
    new = made / "new"
    new.mkdir()
    (new / "thesis.txt").write_text("years of work")
    for more in ((), ("--overwrite",)):
        said = call(made, arguments, *more, code=1)
        assert "[E120]" in said and "thesis.txt" in said
    (new / "thesis.txt").unlink()
    call(made, arguments)
    call(made, arguments)
    (new / "thesis.txt").write_text("years of work")
    said = call(made, arguments, code=1)
    assert "[E121]" in said and "thesis.txt" in said
    assert (new / "thesis.txt").read_text() == "years of work"
    call(made, arguments, "--overwrite")
    assert not (new / "thesis.txt").exists()
    for path in sorted(new.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    new.rmdir()


def test_every_verb_that_takes_a_place_to_write_has_the_option() -> None:
    import typer

    def commands(command: object, path: str) -> list[tuple[str, set[str]]]:
        inner = getattr(command, "commands", None)
        if not inner:
            return [(path, {name for one in command.params for name in one.opts})]
        return [found for name, one in inner.items() for found in commands(one, f"{path} {name}")]

    writers = {
        path: options
        for path, options in commands(typer.main.get_command(app), "medlink")
        if options & {"--output"}
    }
    assert len(writers) >= 8
    assert [path for path, options in writers.items() if "--overwrite" not in options] == []
