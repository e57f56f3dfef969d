"""The files of a corpus, and their splits."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from spacy_medlink.errors import Errors, MedlinkError
from spacy_medlink.exchange.documents import Document, Mention, Span
from spacy_medlink.exchange.lines import read_lines, read_text

from ..fetching.sources import find_source
from .tally import Tally

# File names of publishers: NCBItrainset, CDR_DevelopmentSet, dev-set1, processed_test, trainX.
_SPLIT = re.compile(
    r"(train|trng|dev|valid|test)(?:elop(?:ment)?|ing|ation|idation)?[-_ ]?(?:set)?(\d*)", re.I
)
_NAMES = {"trng": "train", "valid": "dev"}
PARTS = ("train", "dev", "test")


def gold_files(name: str, corpora: Path) -> dict[str, Path]:
    """Find the parts of a corpus that the user has put there in the project's format.

    RETURNS (Dict[str, Path]): of "train", "dev", "test", such as
        {"dev": corpora/gsc-plus.dev.jsonl.gz}.
    """
    stems = dict.fromkeys((name, name.replace("-", "_")))
    return {
        part: path
        for part in PARTS
        for stem in stems
        for ending in (".jsonl", ".jsonl.gz")
        if (path := corpora / f"{stem}.{part}{ending}").is_file()
    }


def split_of(path: Path, root: Path) -> str:
    """Find the split in a path, its last part first: "train", "dev", "dev1", "test" or "".

    Only the path below the root counts, or the root's name when the root is the file.
    """
    below = path.relative_to(root).parts if path != root else (path.name,)
    for part in reversed(below):
        named = _SPLIT.search(part)
        if named:
            name = named[1].lower()
            return _NAMES.get(name, name) + named[2]
    return ""


def part_of(split: str) -> str:
    """Read "fold-0.validation" and "dev2" as "dev"."""
    return split.rpartition(".")[2].rstrip("0123456789").replace("validation", "dev")


def files_of(source: Path, pattern: str, corpus: str, expected: str) -> Iterator[Path]:
    """Stream the files of a corpus: the source itself, or all files below it with a matching name.

    pattern (str): regular expression for the whole name, case ignored.
    RAISES (MedlinkError): E107 without the source, E160 when no file fits.
    """
    if source.is_file():
        yield source
        return
    paths = [path for path in walk(source) if re.fullmatch(pattern, path.name, re.I)]
    if not paths:
        raise no_corpus(source, corpus, f"no file in it is named like {pattern}", expected)
    yield from paths


def no_corpus(
    source: Path, name: str, problem: str, expected: str, what: str = "the corpus"
) -> MedlinkError:
    """Make E160: a directory or file is not of the corpus that it should be of."""
    expected = f"{expected}; {find_source(name).homepage} has the right one"
    return Errors.wrong_file(path=source, what=f"{what} {name}", problem=problem, expected=expected)


def documents_of(
    path: Path, tally: Tally, parse: Callable[[str], Document | None], corpus: str, expected: str,
    fallback: str = "",
) -> Iterator[Document]:  # fmt: skip
    """Stream the documents of a file with one in each line; other lines are counted as faults.

    parse (Callable): makes a document of a line, without path and number; None where it is none.
    RAISES (MedlinkError): E160 where the first line is none, or there is no line.
    """
    documents = 0
    for line_number, line in read_lines(path, tally, fallback):
        document = parse(line) if line.strip() else None
        if document:
            documents += 1
            yield document._replace(path=path, line=line_number)
        elif line.strip() and not documents:
            problem = f"line {line_number} has not the form"
            raise no_corpus(path, corpus, problem, expected, "a file of")
        elif line.strip():
            tally.fault("lines that have not the form", path, line_number)
    if not documents:
        raise no_corpus(path, corpus, "no line is in it", expected, "a file of")


def read_mentions(
    path: Path, tally: Tally, parse: Callable[[str], Mention | None]
) -> tuple[Mention, ...]:
    """Read a mention of each line; lines that are none are counted as faults.

    parse (Callable[[str], Optional[Mention]]): makes a mention of a line, without its number.
    """
    mentions = []
    for line_number, line in read_lines(path, tally):
        if mention := parse(line.strip()):
            mentions.append(mention._replace(line=line_number))
        elif line.strip():
            tally.fault("lines that are no mention", path, line_number)
    return tuple(mentions)


def find_said(text: str, mention_text: str, after: int = 0) -> tuple[Span, ...]:
    """Find a mention in a text, ignoring case: first as whole words, then inside words.

    after (int): where to begin. RETURNS (Tuple[Span, ...]): the first place, or ().
    """
    pattern = r"\s+".join(map(re.escape, mention_text.split()))
    for way in (rf"(?<!\w){pattern}(?!\w)", pattern) if pattern else ():
        if match := re.compile(way, re.IGNORECASE).search(text, after):
            return (match.span(),)
    return ()


def texts_of(folder: Path) -> dict[str, list[Path]]:
    """List the text files below a directory by their names without suffix."""
    by_name: dict[str, list[Path]] = {}
    for path in walk(folder):
        if path.suffix == ".txt":
            by_name.setdefault(path.stem, []).append(path)
    return by_name


def nearest(paths: Sequence[Path], to: Path) -> Path | None:
    """Take the file that shares the longest path with another one; None of none."""
    return max(paths, key=lambda path: len(set(path.parents) & set(to.parents)), default=None)


def pairs(
    annotations: Iterable[Path], texts: Mapping[str, Sequence[Path]], tally: Tally
) -> Iterator[tuple[Path, str]]:
    """Stream annotation files, each with the text of the nearest file of its name."""
    for annotation in annotations:
        path = nearest(texts.get(annotation.stem, ()), annotation)
        if path is None:
            tally.fault("annotation files without a text", annotation)
        elif (text := read_text(path, tally)) is not None:
            yield annotation, text


def walk(source: Path) -> Iterator[Path]:
    """Stream all files below a directory in the order of their names, without system files.

    RAISES (MedlinkError): E107 when there is no such directory.
    """
    if not source.exists():
        raise Errors.source_missing(path=source)
    for path in sorted(source.rglob("*")):
        below = path.relative_to(source).parts
        if path.is_file() and "__MACOSX" not in below and not below[-1].startswith("."):
            yield path


def beside(source: Path) -> Path:
    """Return the directory of a corpus, also when `source` is its main file."""
    if not source.exists():
        raise Errors.source_missing(path=source)
    return source if source.is_dir() else source.parent
