"""What is declared is true: entry points, requirements, pins, and the contents of the wheel."""

import ast
import re
import shutil
import subprocess
import sys
from email.parser import HeaderParser
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import spacy_medlink
from tests import declared
from training.package import main as make_pipeline

ROOT = Path(__file__).parents[1]
NAME = "spacy-medlink"


def test_installed_entry_points_are_the_declared_ones():
    installed = {
        (point.group, point.name, point.value) for point in distribution(NAME).entry_points
    }
    expected = {(point.group, point.name, point.value) for point in declared.entry_points()}
    assert installed == expected, "setup.cfg has changed since the installation: run `make setup`"


@pytest.mark.parametrize("point", declared.entry_points(), ids=lambda point: point.name)
def test_entry_point_loads(point):
    loaded = point.load()
    calls = {"medlink_readers": "read", "medlink_formats": "write", "medlink_gold": "records"}
    assert callable(getattr(loaded, calls[point.group]) if point.group in calls else loaded)


def test_every_registered_function_is_declared():
    points = {(point.group, point.name): point.value for point in declared.entry_points()}
    for path in sorted((ROOT / "spacy_medlink").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for registered, function in _registered(path):
            assert points.get(registered) == f"{module}:{function}", f"setup.cfg, {registered}"


def _registered(path: Path) -> list[tuple[tuple[str, str], str]]:
    """Functions under `@registry.<group>("name")` or `@Language.factory("name")`."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in node.decorator_list:
            match = re.match(
                r"(?:[\w.]*registry\.(\w+)|[\w.]*Language\.(factory))\(\s*['\"]([^'\"]+)",
                ast.unparse(decorator),
            )
            if match:
                group = f"spacy_{match[1]}" if match[1] else "spacy_factories"
                found.append(((group, match[3]), node.name))
    return found


def test_version_is_one_and_in_the_changelog():
    assert distribution(NAME).version == spacy_medlink.__version__
    assert spacy_medlink.__version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf8")


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_every_requirement_has_one_pin_that_satisfies_it(python):
    pins = _pins(python)
    for requirement in declared.requirements(*declared.extras()):
        pin = pins[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(pin), f"{requirement} is pinned to {pin}"


def test_everything_needed_is_pinned_and_installed_so():
    """Follow the requirements of what is installed all the way down."""
    pins, seen = _pins("{}.{}".format(*sys.version_info)), set[str]()
    waiting = [
        *declared.requirements(
            "starter", "torch", "onnx", "train", "peft", "parquet", "rdf", "dev"
        ),
        Requirement("setuptools"),
    ]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in seen and not requirement.extras:
            continue
        seen.add(name)
        assert name in pins, f"{name} has no pin in constraints.txt"
        installed = distribution(name)
        assert installed.version.split("+")[0] == pins[name], f"{name}: run `make setup`"
        waiting += _needs(installed.requires or [], requirement.extras)
    assert {"torch", "numpy", "click"} <= seen


def _needs(texts: list[str], extras: set[str]) -> list[Requirement]:
    needs = [Requirement(text) for text in texts]
    return [
        need
        for need in needs
        if not need.marker or any(need.marker.evaluate({"extra": extra}) for extra in {"", *extras})
    ]


def _pins(python: str) -> dict[str, str]:
    """Pinned versions for a version of Python; fails when a line is no pin, or a name has two."""
    pins: dict[str, str] = {}
    for pin in declared.pins():
        if pin.marker and not pin.marker.evaluate({"python_version": python}):
            continue
        name = canonicalize_name(pin.name)
        (one,) = pin.specifier
        assert one.operator == "==", pin
        assert name not in pins, f"{name} is pinned twice for Python {python}"
        pins[name] = one.version
    return pins


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel built from a copy: leftovers of earlier builds must not fill gaps."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("setup.cfg", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("spacy_medlink", "tests", "benchmarks", "training"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = out.glob("*.whl")
    return wheel


def test_wheel_has_the_whole_package_and_nothing_else(wheel):
    expected = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "spacy_medlink").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "spacy_medlink/py.typed" in expected
    assert any(name.startswith("spacy_medlink/assets/starter/") for name in expected)
    with ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == expected


def test_wheel_describes_itself(wheel):
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        facts = HeaderParser().parsestr(archive.read(name).decode("utf8"))
    assert facts["Name"] == NAME
    assert facts["Version"] == spacy_medlink.__version__
    assert facts["License-Expression"] == "MIT"
    assert facts["Description-Content-Type"] == "text/markdown"
    assert {"starter", "torch", "onnx", "gpu", "dev"} <= set(facts.get_all("Provides-Extra") or [])
    assert facts.get_payload(), "the README is the description"


INSTALLED = """
import sys, spacy_medlink, spacy
from pathlib import Path
assert Path(spacy_medlink.__file__).is_relative_to(sys.prefix), spacy_medlink.__file__
nlp = spacy.blank("en")
nlp.add_pipe("medical_mentions")
nlp.add_pipe("medical_linker")
print(nlp("Longstanding type 2 diabetes.").ents[0]._.cui)
"""


@pytest.fixture
def environment(wheel, tmp_path):
    """An environment of its own has the wheel; what the wheel needs is borrowed, our source not."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True, timeout=120)
    _install(tmp_path / "env", wheel)
    (site,) = (tmp_path / "env").glob("lib/python*/site-packages")
    # A path that stands in a .pth file is searched, but its own .pth files are not read: the
    # editable installation of the checkout stays outside.
    borrowed = {str(Path(distribution(name).locate_file("."))) for name in ("spacy", "torch")}
    (site / "borrowed.pth").write_text("\n".join(sorted(borrowed)) + "\n")
    return tmp_path / "env"


def _install(environment: Path, wheel: Path) -> None:
    install = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(wheel)]
    subprocess.run([environment / "bin" / "python", *install], check=True, timeout=120)


def _said_by(environment: Path, command: str, *arguments: str) -> str:
    """Run a command of an environment, outside of the checkout."""
    return subprocess.run(
        [environment / "bin" / command, *arguments], cwd=environment, capture_output=True,
        text=True, timeout=240, check=True,
    ).stdout  # fmt: skip


@pytest.mark.slow
def test_the_wheel_works_where_it_is_installed(environment):
    script = ["-I", "-W", "ignore", "-c", INSTALLED]
    assert _said_by(environment, "python", *script).strip() == "C0011860"
    said = _said_by(environment, "medlink", "link", "starter", "Known type 2 diabetes.")
    assert "C0011860" in said


TRAINED = """
import spacy
from spacy.tokens import Span
from spacy.training import Example
nlp = spacy.load("en_medlink_tiny")
linker = nlp.get_pipe("medical_linker")
assert linker.is_trainable and str(linker.assets.path).startswith(spacy.util.sys.prefix)
gold = nlp.make_doc("We saw sugar trouble there.")
gold.set_ents([Span(gold, 2, 4, "CONCEPT", kb_id="HP:0000819")])
sgd = nlp.resume_training()
examples = [Example(nlp.make_doc(gold.text), gold)]
losses = [nlp.update(examples, sgd=sgd)["medical_linker"] for _ in range(30)]
nlp.to_disk("learned")
(link,) = spacy.load("learned").get_pipe("medical_linker").link_texts(["sugar trouble"])
print(losses[-1] < losses[0], link.candidates[0].id)
"""


@pytest.mark.slow
def test_a_packaged_pipeline_is_trained_where_it_is_installed(environment, tiny_assets, tmp_path):
    name = {"name": "medlink_tiny", "version": "0.1.0"}
    make_pipeline(tiny_assets.path, tmp_path / "pipeline", lang="en", cui_scheme=None, **name)
    (tmp_path / "packages").mkdir()
    package = ["-m", "spacy", "package", "pipeline", "packages", "--build", "wheel"]
    subprocess.run([sys.executable, *package], cwd=tmp_path, check=True, timeout=240)
    (made,) = tmp_path.glob("packages/*/dist/*.whl")
    _install(environment, made)
    said = _said_by(environment, "python", "-I", "-W", "ignore", "-c", TRAINED)
    assert said.split() == ["True", "HP:0000819"]


# Below these, each has a published hole that a user of ours could meet.
SAFE = {
    "h11": "0.16", "jinja2": "3.1.6", "onnx": "1.18", "pyarrow": "23.0.1", "scikit-learn": "1.5",
    "setuptools": "78.1.1", "starlette": "1.0.1", "torch": "2.6", "tqdm": "4.66.3",
    "transformers": "4.53",
}  # fmt: skip


def test_the_lowest_versions_are_safe():
    """What an extra does not name itself may be of any version that its packages allow."""
    lowest = {
        one.name: max(Version(part.version) for part in one.specifier if part.operator == ">=")
        for one in declared.requirements(*declared.extras())
        if any(part.operator == ">=" for part in one.specifier)
    }
    assert {name for name, version in SAFE.items() if lowest[name] < Version(version)} == set()
