"""The clinical lexicons of the package, and opening the lexicons of a setting."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from ...errors import Errors
from .lexicon import Lexicon

CLINICAL = "clinical"
_DIRECTORY = Path(__file__).parent


def languages() -> list[str]:
    """List the languages that have a clinical lexicon."""
    return sorted(path.stem for path in _DIRECTORY.glob("*.tsv"))


def open_lexicon(names: str | Sequence[str] | None, language: str) -> Lexicon:
    """Read the lexicons that a setting names; for each short form the last lexicon counts.

    names: paths of files; "clinical" for the package's lexicon of the language, if there is one;
        "clinical-de" for that of another language.
    RAISES (MedlinkError): E107 without a file, E401 for a line that is no entry, E108 for a
        language that has no clinical lexicon.
    """
    lexicon = Lexicon()
    lexicon.language = language
    for name in [names] if isinstance(names, str) else names or ():
        named = _open(name, language)
        lexicon = lexicon.updated(named) if len(lexicon) else named
        lexicon.language = lexicon.language or language
    return lexicon


def _open(name: str, language: str) -> Lexicon:
    if name == CLINICAL:
        return clinical(language) if language in languages() else Lexicon()
    if not name.startswith(f"{CLINICAL}-"):
        return Lexicon.read(name)
    wanted = name.removeprefix(f"{CLINICAL}-")
    if wanted not in languages():
        choices = f"{', '.join(languages())}, or the path of a file of your own"
        raise Errors.unknown_choice(what="clinical lexicon", value=name, known=choices)
    return clinical(wanted)


class _Clinical(Lexicon):
    """A lexicon of the package, which is pickled by its language."""

    is_shipped = True

    def __reduce__(self) -> tuple[Callable[[str], Lexicon], tuple[str]]:
        return clinical, (self.language,)


@cache
def clinical(language: str) -> Lexicon:
    """Read the clinical lexicon of a language that has one."""
    lexicon = _Clinical.read(_DIRECTORY / f"{language}.tsv")
    lexicon.language = language
    return lexicon
