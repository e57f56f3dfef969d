"""What setup.cfg and constraints.txt declare, as data."""

from configparser import ConfigParser
from importlib.metadata import EntryPoint
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


def _setup() -> ConfigParser:
    config = ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    config.optionxform = str
    config.read(ROOT / "setup.cfg", encoding="utf8")
    return config


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def entry_points() -> list[EntryPoint]:
    """The entry points that setup.cfg declares."""
    groups = _setup()["options.entry_points"]
    return [
        EntryPoint(*(part.strip() for part in line.split("=", 1)), group)
        for group, lines in groups.items()
        for line in _lines(lines)
    ]


def requirements(*extras: str) -> list[Requirement]:
    """The requirements that setup.cfg declares, with those of the extras."""
    config = _setup()
    texts = [config["options"]["install_requires"]]
    texts += [config["options.extras_require"][extra] for extra in extras]
    return [Requirement(line) for text in texts for line in _lines(text)]


def extras() -> list[str]:
    """The names of all extras."""
    return list(_setup()["options.extras_require"])


def pins() -> list[Requirement]:
    """The lines of constraints.txt."""
    lines = _lines((ROOT / "constraints.txt").read_text(encoding="utf8"))
    return [Requirement(line) for line in lines if not line.startswith("#")]
