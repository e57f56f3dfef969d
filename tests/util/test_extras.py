"""An optional package that cannot be imported is named, and so is what it lacks itself."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

from spacy_medlink.util.extras import lacking, missing
from tests import declared
from tests.children import python

_LACKS = {
    "not there": ("", "the package {0}, which is not installed"),
    "lacks another": ("import no_such_thing.part", "the package no_such_thing, which is not"),
    "too old": ("from {0} import no_such_name", "the package {0}, which cannot be imported"),
    "lacks a part": ("import {0}.no_such_part", "which cannot be imported (No module named"),
}


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def _import(place: Path, name: str, code: str) -> ImportError:
    """Import a package whose own code is this, or one that is not there."""
    if code:
        (place / name).mkdir()
        (place / name / "__init__.py").write_text(code.format(name))
    with pytest.raises(ImportError) as raised:
        import_module(name)
    return raised.value


@pytest.mark.parametrize("case", _LACKS)
def test_what_is_lacking(broken: Path, case: str) -> None:
    code, says = _LACKS[case]
    error = _import(broken, "a_package", code)
    assert says.format("a_package") in lacking(error)


@pytest.mark.parametrize("case", _LACKS)
@pytest.mark.parametrize(("package", "extra"), [("ray", "ray"), ("pyoxigraph", "rdf")])
def test_the_extra_that_brings_it(
    broken: Path, monkeypatch: pytest.MonkeyPatch, package: str, extra: str, case: str
) -> None:
    code, says = _LACKS[case]
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    if not code:
        monkeypatch.setitem(sys.modules, package, None)  # type: ignore[arg-type]  # so it is marked
    told = str(missing(_import(broken, package, code), "This"))
    assert told.startswith("[E614] This needs the package ")
    assert says.format(package) in told
    assert f"`pip install -c constraints.txt '.[{extra}]'`" in told


def test_what_no_extra_has_is_raised(broken: Path) -> None:
    with pytest.raises(ImportError, match="no_such_thing"):
        missing(_import(broken, "a_package", "import no_such_thing"), "This")


@pytest.mark.parametrize(
    ("order", "package", "extra"),
    [
        pytest.param(
            "annotate starter notes.jsonl --output out.jsonl --engine ray",
            "ray",
            "ray",
            marks=pytest.mark.slow,
        ),
        ("serve starter", "fastapi", "serve"),
    ],
)
def test_commands_say_it(broken: Path, order: str, package: str, extra: str) -> None:
    """The package is there and lacks one of its own: no traceback."""
    (broken / "notes.jsonl").write_text('{"doc_id": "1", "text": "No asthma."}\n')
    (broken / package).mkdir()
    (broken / package / "__init__.py").write_text("import no_such_thing\n")
    cli = "import spacy_medlink.cli as cli; cli.main()"
    done = python("-c", cli, *order.split(), cwd=broken, code=1)
    assert "needs the package no_such_thing, which is not installed" in done.stderr
    assert f"pip install -c constraints.txt '.[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_extras_are_those_of_the_package() -> None:
    from spacy_medlink.util.extras import _EXTRAS

    assert {*_EXTRAS.values()} <= {*declared.extras()}
