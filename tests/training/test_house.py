"""The house of training: imports run one way, and docs/training.md says what each part is for."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

from tests.test_layers import _imports_of, _is_package

ROOT = Path(__file__).parents[2]
# From the ground up. `recipe` reads the names of losses, whose settings are those of recipes.
FLOORS = [
    {"corpora", "fetching", "recipe"}, {"data", "representations"}, {"objectives", "loop"},
    {"choosing"}, {"kinds"}, {"reranking"}, {"papers"},
]  # fmt: skip
FLOOR_OF = {part: number for number, parts in enumerate(FLOORS) for part in parts}


def test_no_module_needs_itself():
    graph = {
        module: {target for target in targets if target.startswith("training.")} - {module}
        for module, targets in _imports_of("training").items()
        if not _is_package(module)
    }
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_no_part_uses_one_above():
    wrong = [
        f"{module} imports {target}"
        for module, targets in _imports_of("training").items()
        for target in targets
        if (one := FLOOR_OF.get(_part(module))) is not None
        if (other := FLOOR_OF.get(_part(target))) is not None
        if other > one and (_part(module), _part(target)) != ("recipe", "objectives")
    ]
    assert not wrong, wrong


def test_the_page_has_every_part():
    parts = {path.parent.name for path in (ROOT / "training").glob("*/__init__.py")}
    assert parts == FLOOR_OF.keys()
    page = (ROOT / "docs" / "training.md").read_text(encoding="utf8")
    assert parts <= set(re.findall(r"^\| `training/(\w+)`", page, re.M))


def _part(module: str) -> str:
    """The part after the package's own name: "loop" of training.loop.trainer."""
    root, _, rest = module.partition(".")
    return rest.partition(".")[0] if root == "training" else ""
