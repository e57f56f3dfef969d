"""Translations of words and titles between English and other languages, as publishers pack them."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path

from spacy_medlink.errors import Errors
from spacy_medlink.kb.readers.lines import numbered_lines
from spacy_medlink.util.files import save_text
from spacy_medlink.util.outputs import FileKind

from .layout import walk

_BITEXT = FileKind("a bitext")
# Files are named after their two languages, in any order: en-de.txt, wikititles-v3.de-en.tsv,
# en_ko_muse_pairs.txt.
_LANGUAGES = re.compile(r"(?:^|[._-])([a-z]{2,3})[-_]([a-z]{2,3})(?:[._]|$)")
_BY_ID = "||"  # id||text||text, as the authors of XL-BEL share both formats
FORMATS = {
    "muse": re.compile(r"\s+"),  # dictionaries of words (Conneau et al. 2018)
    "wt": re.compile(r"\t"),  # titles of Wikipedia, as WMT has them
}
"""Formats of translations, by what stands between the two texts of a line."""


def convert_bitext(
    format: str, sources: Sequence[Path], languages: Collection[str], output: Path
) -> int:
    """Write translations between English and some languages as one file, each pair once.

    sources (Sequence[Path]): files, or directories with one for each pair of languages.
    languages (Collection[str]): () for all. RETURNS (int): pairs.
    RAISES (MedlinkError): E107 without a source, E401 for a line without two texts, E108 for an
        unknown format, E407 when no file is of the languages.
    """
    pairs = dict.fromkeys(pair for _, pair in translations_in(format, sources, languages))
    output.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{english}\t{other}\n" for english, other in pairs)
    save_text(output, _BITEXT, text, sources, overwrite=True)
    return len(pairs)


def translations_in(
    format: str, sources: Sequence[Path], languages: Collection[str] = ()
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Stream translations, each with its language beside English; see `convert_bitext`."""
    if format not in FORMATS:
        raise Errors.unknown_choice(
            what="format of translations", value=format, known=", ".join(FORMATS)
        )
    files = chain.from_iterable([path] if path.is_file() else walk(path) for path in sources)
    named = [(file, _LANGUAGES.search(file.name.removesuffix(".gz"))) for file in files]
    kept = [
        (file, lang)
        for file, match in named
        for lang in (set(match.groups()) - {"en"} if match and "en" in match.groups() else ())
        if lang in (languages or (lang,))
    ]
    if not kept:
        raise Errors.nothing_there(
            path=", ".join(map(str, sources)),
            what=f"file with translations between English and {', '.join(languages) or 'any'}",
            remedy="Name each file after its languages, such as en-de.txt.",
        )
    yield from ((lang, pair) for file, lang in kept for pair in _pairs(file, FORMATS[format]))


def _pairs(file: Path, between: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    for line_number, line in numbered_lines(file):
        by_id = line.count(_BY_ID) == 2
        parts = line.split(_BY_ID)[1:] if by_id else between.split(line.strip(), maxsplit=1)
        cells = [cell.strip() for cell in parts]
        if len(cells) == 2 and all(cells):
            yield cells[0], cells[1]
        elif line.strip():
            raise _bad_line(file, line_number)


def read_bitext(path: Path) -> Iterator[tuple[str, str]]:
    """Stream the pairs of a file: the first two columns, tab-separated, plain or gzip.

    Empty lines and pairs of equal strings are skipped: there is nothing to learn from them.
    RAISES (MedlinkError): E401 a line without two texts, E107 no such file.
    """
    if not path.is_file():
        raise Errors.source_missing(path=path)
    for line_number, line in numbered_lines(path):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("\t")[:2]]
        if len(cells) < 2 or not all(cells):
            raise _bad_line(path, line_number)
        if cells[0].lower() != cells[1].lower():
            yield cells[0], cells[1]


def _bad_line(path: Path, line: int) -> Exception:
    expected = "a text, a tab, and its translation"
    return Errors.wrong_line(path=path, line=line, problem="no pair", expected=expected)
