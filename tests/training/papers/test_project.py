"""The workflows of the papers: every command of theirs is one that its program understands."""

import os
import shlex
from pathlib import Path
from typing import Any

import pytest
from weasel.util import load_project_config

from spacy_medlink.errors import MedlinkError
from tests.children import python
from training.corpora.translations import convert_bitext
from training.papers.plan import _VARIABLE, Plan, read_layout, read_plan, variables
from training.papers.published import LAYOUTS, papers, read_published
from training.papers.reproduce import main as reproduce

from . import toy

ROOT = Path(__file__).parents[3]
PROJECT = ROOT / "training" / "papers"
CONFIG: dict[str, Any] = load_project_config(PROJECT)
COMMANDS = {command["name"]: command for command in CONFIG["commands"]}
PLANS = sorted((PROJECT / "plans").glob("*.yml"))
# Rows beside the published ones.
BESIDE = {
    "SapBERT (released)", "SapBERT (LoRA)", "SapBERT (adapter 13 %)", "mBERT",
    "SapBERT, NCA", "SapBERT, lifted structure", "CODER_ENG, term-relation-term", "PubMedBERT",
    "CODER_ENG (released)", "CODER_ALL (released)", "CODER_ENG (released) e",
    "CODER_ALL (released) e", "CODER_ENG cls", "XLM-R large", "XLM-R large + SAP all_syn",
    "Spanish-SapBERT + CE, later code",
}  # fmt: skip


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_plans_are_of_published_systems_and_recipes_that_there_are(path):
    plan: Plan = read_plan(path)
    known: set[str] = set()
    for key, corpus in plan.corpora.items():
        layout = read_layout(LAYOUTS / f"{corpus.layout or plan.layout}.cfg")
        published = read_published(layout.paper, corpus.published or key)
        if corpus.task in ("similarities", "names", "languages"):  # without printed numbers
            continue
        known |= {one.system for one in published}
        assert published, key
    named = {system.name for system in plan.systems.values()}
    named = {name for name in named if not name.endswith(", all languages at once")}
    assert named - BESIDE <= known, named - known
    for system in plan.systems.values():
        assert not system.recipe or (PROJECT / system.recipe).is_file() or "$" in system.recipe


def test_a_plan_knows_the_variables_of_the_project_and_no_others():
    texts = [path.read_text("utf-8") for path in PLANS]
    languages = ("es", "de", "fi", "ru", "tr", "ko", "zh", "ja", "th")
    whole = [text.replace("{lang}", lang) for text in texts for lang in languages]
    used = set().union(*map(_VARIABLE.findall, whole))
    given = {one.partition("=")[0] for one in CONFIG["vars"]["given"].split("|")}
    assert used == given <= set(variables())
    with pytest.raises(MedlinkError, match=r"E160.*umlz"):
        read_plan(PROJECT / "plans" / "sapbert.yml", {"vars.umlz": "x"})


def test_variables_of_a_command_reach_its_plan(tmp_path):
    names = variables().keys() - {"given"}
    given = {f"vars.{name}": str(tmp_path / f"no {name}") for name in names}
    changed = load_project_config(PROJECT, overrides=given)
    (command,) = (one for one in changed["commands"] if one["name"] == "sapbert-tables")
    words = shlex.split(command["script"][0])
    option = words[words.index("--vars") + 1]
    with pytest.raises(MedlinkError, match=r"(?s)E407.*no biobert"):
        reproduce(PROJECT / words[3], tmp_path / "out.json", work=tmp_path, vars_=option)


def test_encoders_are_names_on_the_hub_not_directories_that_nothing_makes():
    made = {path for command in COMMANDS.values() for path in command.get("outputs", [])}
    for path in PLANS:
        for key, system in read_plan(path).systems.items():
            if system.encoder:
                assert system.encoder in made or not system.encoder.startswith("models/"), key


def test_what_is_no_plan_is_said(tmp_path):
    path = tmp_path / "plan.yml"
    for text in ("- 1\n", "layout: sapbert\n", "[", PLANS[0].read_text("utf-8") + "more: 1\n"):
        path.write_text(text, "utf-8")
        with pytest.raises(MedlinkError, match="E160"):
            read_plan(path)
    with pytest.raises(MedlinkError, match=r"E160.*nobody"):
        read_plan(PROJECT / "plans" / "sapbert.yml", {"systems.sap.base": "nobody"})


def test_translations_are_put_into_one_file(tmp_path):
    toy.translations(tmp_path / "muse", tmp_path / "titles")
    out = tmp_path / "out.tsv"
    assert convert_bitext("muse", [tmp_path / "muse"], ["de"], out) == 2
    assert out.read_text("utf-8") == "heart\tHerz\nlung\tLunge\n"
    assert convert_bitext("wt", [tmp_path / "titles"], [], out) == 2
    assert "Das Herz\tThe heart" in out.read_text("utf-8")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "en_ko_muse_pairs.txt").write_text("7||of the heart||심장의\n", "utf-8")
    assert convert_bitext("muse", [tmp_path / "theirs"], ["ko"], out) == 1
    assert out.read_text("utf-8") == "of the heart\t심장의\n"
    with pytest.raises(MedlinkError, match="E108"):
        convert_bitext("opus", [tmp_path / "muse"], [], out)
    with pytest.raises(MedlinkError, match="E407"):
        convert_bitext("muse", [tmp_path / "muse"], ["fi"], out)
    (tmp_path / "muse" / "en-fi.txt").write_text("heart\n", "utf-8")
    with pytest.raises(MedlinkError, match="E401"):
        convert_bitext("muse", [tmp_path / "muse"], ["fi"], out)


def test_every_paper_has_a_workflow_that_makes_its_tables():
    for workflow in {"tables", "tables_train", *papers()}:
        scripts = [
            line for name in CONFIG["workflows"][workflow] for line in COMMANDS[name]["script"]
        ]
        assert any("training.papers.reproduce" in line for line in scripts)


def test_modules_of_the_checkout_run_from_the_papers_directory(tmp_path):
    """`training` is not installed; `python -m training.show` would not find it there."""
    page = tmp_path / "table.md"
    page.write_text("a table", encoding="utf-8")
    paths = {**os.environ, "PYTHONPATH": ""}
    done = python("run.py", "training.show", page, cwd=PROJECT, env=paths)
    assert done.stdout.strip() == "a table"
