"""Lists of words of a language, beside this file."""

from pathlib import Path

from .tables import read_table, table_lines

_LISTS = Path(__file__).parent / "lists"


def lines_of(name: str, lang: str) -> list[str]:
    """Read the lines of a list of a language; none where it has none."""
    path = _LISTS / f"{name}.{primary_tag(lang)}.txt"
    return [line for _, line in table_lines(read_table(path))] if path.is_file() else []


def words_of(name: str, lang: str) -> list[str]:
    """Read the words of a list of a language; none where it has none."""
    return [word for line in lines_of(name, lang) for word in line.split()]


def primary_tag(lang: str) -> str:
    """Give the language of a tag: "en" for "en-GB"."""
    return lang.lower().replace("_", "-").partition("-")[0]
