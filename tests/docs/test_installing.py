"""What README and docs/tutorials/offline.md say about installing, done word for word.

In empty environments, from a copy of the checkout and a package index. Nothing is borrowed from the
environment that runs the tests.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from zipfile import ZipFile

import pytest

from spacy_medlink.workbench.example import write_example
from tests import declared
from tests.docs.markdown import ROOT, Block, blocks_of

OFFLINE = ROOT / "docs" / "tutorials" / "offline.md"
CHECKOUT = (
    "CHANGELOG.md", "LICENSE", "MANIFEST.in", "README.md", "constraints.txt", "pyproject.toml",
    "setup.cfg", "spacy_medlink", "training",
)  # fmt: skip
# What `make run` does between the assets and the wheel, with a smaller terminology.
PACKAGE = """
python -m training.package my.assets models/pipeline --name medlink_hpo
python -m spacy package models/pipeline packages --name medlink_hpo --version 0.1.0 --build wheel
"""


@dataclass
class Machine:
    """An empty environment, and the directory in which commands are given to it.

    before (Sequence[str]): put before every command.
    """

    environment: Path
    directory: Path
    before: Sequence[str] = ()

    @classmethod
    def make(cls, environment: Path, directory: Path, before: Sequence[str] = ()) -> "Machine":
        directory.mkdir(exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", environment], check=True, timeout=120)
        return cls(environment, directory, before)

    def run(self, *command: str) -> str:
        """Run a command. RETURNS (str): what it printed, both streams."""
        path = f"{self.environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
        variables = {**os.environ, "PATH": path, "PYTHONNOUSERSITE": "1"}
        for name in ("PYTHONPATH", "VIRTUAL_ENV"):
            variables.pop(name, None)
        done = subprocess.run(
            [*self.before, *command], cwd=self.directory, env=variables, timeout=1500, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}:\n{done.stdout[-4000:]}"
        return done.stdout

    def follow(self, block: Block) -> str:
        """Do what a block says."""
        if block.language == "python":
            return self.run("python", "-I", "-W", "ignore", "-c", block.text)
        assert block.language == "bash", block.place
        return self.run("bash", "-e", "-c", block.text)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout, with the files that the pages speak of."""
    path = tmp_path_factory.mktemp("checkout")
    for name in CHECKOUT:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, path / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, path)
    write_example(path)
    return path


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Machine:
    """A machine that has the checkout and reaches an index; skipped where pip reaches none."""
    own = Machine.make(tmp_path_factory.mktemp("online") / "env", checkout)
    try:
        own.run("pip", "download", "--quiet", "--no-deps", "-c", "constraints.txt", "-d",
                "probe", "wasabi")  # fmt: skip
    except AssertionError as error:
        pytest.skip(f"pip reaches no package index: {str(error).strip().splitlines()[-1]}")
    return own


@pytest.fixture(scope="module")
def isolated(
    tmp_path_factory: pytest.TempPathFactory, machine: Machine
) -> Iterator[tuple[Machine, str]]:
    """A machine without a network, and what it printed: offline.md from end to end."""
    blocks = blocks_of(OFFLINE)
    before = list(takewhile(lambda block: "--no-index" not in block.text, blocks))
    assert 0 < len(before) < len(blocks)
    for block in before:
        machine.follow(block)
    cut = ["unshare", "--map-root-user", "--net"]
    can_cut = shutil.which(cut[0]) and subprocess.run([*cut, "true"], timeout=60).returncode == 0
    place = tmp_path_factory.mktemp("offline")
    own = Machine.make(place / "env", place / "work", cut if can_cut else ())
    shutil.move(machine.directory / "wheels", own.directory / "wheels")
    printed = own.follow(blocks[len(before)])
    for block in blocks[len(before) + 1 :]:
        # What is left looks into the assets, which are not carried over.
        machine.follow(block)
    yield own, printed
    shutil.rmtree(place)  # a whole environment


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_offline_as_the_tutorial_says(isolated: tuple[Machine, str]) -> None:
    own, printed = isolated
    assert "C0011860" in printed
    where = "import onnxruntime as one; print(one.__file__)"
    assert str(own.environment) in own.run("python", "-c", where)
    listed = own.run("pip", "list")
    assert "onnxruntime" in listed and "torch" not in listed and "scikit-learn" not in listed
    assert "No broken requirements" in own.run("pip", "check")


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_installing_as_the_readme_says(machine: Machine, isolated: tuple[Machine, str]) -> None:
    """Its first blocks, from `pip install` to the package that `make run` builds."""
    readme = [block for block in blocks_of(ROOT / "README.md") if block.language != "json"]
    install, starter, *_ = readme
    make, package = (
        next(block for block in readme if word in block.text)
        for word in ("make run", "packages/en_medlink_hpo")
    )
    machine.follow(install)
    assert "C0011860" in machine.follow(starter)
    assert "make run" in make.text
    for line in PACKAGE.strip().splitlines():
        machine.run("bash", "-e", "-c", line)
    machine.follow(package)
    use = 'spacy.load("en_medlink_hpo")'
    assert use in (ROOT / "README.md").read_text("utf8")
    said = f"import spacy\nnlp = {use}\nprint(nlp('Longstanding type 2 diabetes.').ents[0]._.cui)\n"
    printed = machine.run("python", "-I", "-W", "ignore", "-c", said)
    assert printed.strip() == "C0011860"
    wanted = machine.run("pip", "install", "--dry-run", "-c", "constraints.txt",
                         ".[train]")  # fmt: skip
    assert "Would install" in wanted and "pooch" in wanted, "extras are those of the checkout"


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_torch_for_the_cpu(machine: Machine) -> None:
    """The pin takes a CPU build where pip is told of one, as README says."""
    (pin,) = (pin for pin in declared.pins() if pin.name == "torch")
    version = f"{str(pin.specifier).removeprefix('==')}+cpu"
    wheels = machine.directory / "cpu"
    wheels.mkdir()
    with ZipFile(wheels / f"torch-{version}-py3-none-any.whl", "w") as wheel:
        about = f"torch-{version}.dist-info"
        wheel.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: torch\nVersion: {version}"
        )
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    report = machine.run(
        "env", "-u", "PIP_FIND_LINKS", "pip", "install", "--dry-run", "--ignore-installed",
        "--no-deps", "-c", "constraints.txt", "--find-links", str(wheels), "torch",
    )  # fmt: skip
    assert f"Would install torch-{version}" in report
