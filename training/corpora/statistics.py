"""Count what corpora, dictionaries and translations hold, beside what the papers print.

statistics.tsv has the printed counts. A part names splits ("train"), languages ("de") and types
("DISO"), and perhaps a filter as `medlink evaluate` calls it: "test filtered_0.2_train".
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from spacy_medlink.errors import Errors
from spacy_medlink.evaluation.splits import near_references
from spacy_medlink.exchange.documents import Document, Ids, Mention
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.gold import read_gold
from spacy_medlink.kb.readers import read
from spacy_medlink.kb.writer import distinct_names
from spacy_medlink.types import Concept

from ..fetching.sources import find_source
from .convert import without_repeats
from .layout import PARTS, part_of, walk
from .registry import CORPORA
from .tally import Tally
from .translations import translations_in

_GOLD = re.compile(r"(.+)\.((?:train|dev|test)\d*)\.jsonl(?:\.gz)?")
_NAMES = (".kb", ".kb.jsonl", ".kb.jsonl.gz")
_BITEXTS = {"muse": "muse", "wikipedia_titles": "wt"}  # directories, with the format of their files
_FILTERED = "filtered_"
Counts = Iterator[tuple[str, str, float]]  # part, what is counted, how many there are


def counts_of(path: Path, names: Sequence[str] = ()) -> Iterator[tuple[str, Counts]]:
    """Count what a directory or file holds, by the name that statistics.tsv has for it.

    path (Path): a corpus or translations, in a directory that is called as `training.download` and
        the plans of the papers do; gold files and dictionaries, or a directory of these.
    names (Sequence[str]): of a dictionary, which filter the mentions of tests.
    RAISES (MedlinkError): E107 no such path, E407 nothing that is known, E1xx and E4xx for files.
    """
    files = [path] if path.is_file() else list(walk(path))
    if path.name in _BITEXTS:
        yield path.name, _of_translations(_BITEXTS[path.name], path)
        return
    by_source = [(find_source(name).name, corpus) for name, corpus in CORPORA.items()]
    read_by = {corpus.name: corpus for source, corpus in by_source if source == path.name}
    of_parent = [corpus for source, corpus in by_source if source == path.parent.name]
    read_by |= {path.name: of_parent[0]} if of_parent and not read_by else {}
    gold: dict[str, list[tuple[str, Path]]] = {}
    for file in files if not read_by else ():
        if match := _GOLD.fullmatch(file.name):
            gold.setdefault(match[1].replace("_", "-"), []).append((match[2], file))
    dictionaries = [file for file in files if not read_by and file.name.endswith(_NAMES)]
    if not (read_by or gold or dictionaries):
        remedy = "Call it as `training.download` does, or name a gold file or dictionary (.kb)."
        raise Errors.nothing_there(path=path, what="corpus that is known", remedy=remedy)
    for name, corpus in read_by.items():
        tally = Tally()
        documents = without_repeats(corpus.read(path, tally), tally)
        yield name, _of_documents(name, map(_with_texts, documents), names)
    for name, parts in gold.items():
        yield name, _of_documents(name, _of_gold(parts), names)
    for file in dictionaries:
        yield f"{re.split('[-.]', file.name)[0]}.kb", _of_names(file)


def _with_texts(document: Document) -> Document:
    text, mentions = document.text or "", document.mentions
    said = (m.said or " ".join(text[start:end] for start, end in m.spans) for m in mentions)
    kept = tuple(m._replace(said=words) for m, words in zip(mentions, said, strict=True))
    return document._replace(text=None, mentions=kept)


def _of_gold(parts: Iterable[tuple[str, Path]]) -> Iterator[Document]:
    for part, path in parts:
        for document in read_gold(path):
            mentions = (Mention(m.text, (), Ids(tuple(m.ids)), m.type) for m in document.mentions)
            yield Document("", None, tuple(mentions), path, document.lang, part)


def _of_documents(name: str, every: Iterable[Document], names: Sequence[str]) -> Counts:
    """Count documents and mentions of each part, and what a test shares with training."""
    given = list(every)
    folds = {document.split.rpartition(".")[0] for document in given}
    documents = [document._replace(split=part_of(document.split)) for document in given]
    training = [mention.said for mention in _chosen("train", documents)]
    for part in _parts(name, documents, bool(names)):
        reference = names if part.endswith("_dictionary") else training
        mentions = _chosen(part, documents, reference)
        if _FILTERED not in part:
            held = sum(_is_of(part, document) for document in documents)
            yield part, "documents", held / len(folds)
            yield part, "distinct", len(_words(mentions))
        yield part, "mentions", len(mentions) / len(folds)
        yield part, "concepts", len(_ids(mentions))
        if part in ("dev", "test") and training:
            known, learned = _words(_chosen("train", documents)), _ids(_chosen("train", documents))
            yield part, "mentions seen", sum(m.said.lower() in known for m in mentions)
            yield part, "distinct seen", len(_words(mentions) & known)
            yield part, "concepts seen", len(_ids(mentions) & learned)


def _parts(name: str, documents: list[Document], with_dictionary: bool) -> list[str]:
    """List the parts of a corpus that there are, and those that the papers have of it."""
    splits = {document.split for document in documents}
    languages = sorted({document.lang for document in documents})
    parts = [split for split in (*PARTS, *sorted(splits - {*PARTS})) if split in splits - {""}]
    parts += languages if len(languages) > 1 or not parts else []
    parts += [part for part, _ in _published(name) if _FILTERED not in part]
    words = set().union(*(_own(document) for document in documents))
    parts = [part for part in dict.fromkeys(parts) if words.issuperset(part.split())]
    tested = [part for part in parts if "train" not in part]
    kinds = ["train"] if "train" in splits else []
    kinds += ["dictionary"] if with_dictionary else []
    filters = [f"{way}{kind}" for kind in kinds for way in (_FILTERED, f"{_FILTERED}0.2_")]
    return [*parts, *(f"{part} {filter}" for part in tested for filter in filters)]


def _is_of(part: str, document: Document) -> bool:
    words = {word for word in part.split() if not word.startswith(_FILTERED)}
    own = _own(document)
    return bool(own & words) if "train" in words else own >= words


def _own(document: Document) -> set[str]:
    return {document.split, document.lang, *(mention.type for mention in document.mentions)}


def _chosen(
    part: str, documents: Iterable[Document], reference: Iterable[str] = ()
) -> list[Mention]:
    """List the mentions of a part; a filter leaves out those of the reference, or near it."""
    words = part.split()
    types = {word for word in words if word.isupper()}
    of_part = chain.from_iterable(one.mentions for one in documents if _is_of(part, one))
    mentions = [mention for mention in of_part if not types or mention.type in types]
    if not words[-1].startswith(_FILTERED):
        return mentions
    near = near_references({mention.said for mention in mentions}, reference)
    kept = {False} if "0.2" not in words[-1] else set()
    return [m for m in mentions if m.said not in near or near[m.said] in kept]


def _words(mentions: Iterable[Mention]) -> set[str]:
    return {mention.said.lower() for mention in mentions}


def _ids(mentions: Iterable[Mention]) -> set[str]:
    return {id for mention in mentions for id in mention.link.ids}


def names_in(path: Path) -> Iterator[tuple[str, str, str]]:
    """Stream id, text and language of the names of a dictionary, built (.kb) or JSON Lines."""
    concepts = KnowledgeBase(path) if path.suffix == ".kb" else read("jsonl", path)
    for concept in concepts:
        if isinstance(concept, Concept):
            yield from ((concept.id, name.text, name.lang) for name in distinct_names(concept))


def _of_names(path: Path) -> Counts:
    languages: Counter[str] = Counter()
    ids = set()
    for id, _, lang in names_in(path):
        ids.add(id)
        languages[lang] += 1
    yield "all", "concepts", len(ids)
    yield "all", "names", languages.total()
    for lang, count in languages.most_common():
        yield lang or "no language", "names", count


def _of_translations(format: str, path: Path) -> Counts:
    distinct = set(translations_in(format, [path]))
    for lang, count in Counter(lang for lang, _ in distinct).most_common():
        yield lang, "pairs", count


def _published(name: str) -> dict[tuple[str, str], tuple[float, str]]:
    """Get the printed counts by part and what is counted, each with its place."""
    lines = Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines()[1:]
    names = {name, name.split("_")[0] + ".kb" if name.endswith(".kb") else name}
    rows = (line.split("\t") for line in lines)
    return {(part, what): (float(n), place) for of, part, what, n, place in rows if of in names}


def lines_of(name: str, counts: Counts) -> Iterator[str]:
    """Write our counts, the printed ones, and by how much they differ."""
    printed = _published(name)
    for part, what, ours in counts:
        theirs, place = printed.pop((part, what), (None, ""))
        difference = "" if theirs is None else f"{ours - theirs:+,.10g}" if ours != theirs else "="
        shown = "" if theirs is None else f"{theirs:,.10g}"
        yield _line(name, part, what, f"{ours:,.10g}", shown, difference, place)
    for (part, what), (theirs, place) in printed.items():
        yield _line(name, part, what, "-", f"{theirs:,.10g}", "", place)


def _line(name: str, part: str, what: str, *rest: str) -> str:
    ours, theirs, difference, place = rest
    line = f"{name:<18} {part:<30} {what:<16} {ours:>12} {theirs:>12} {difference:>10}  {place}"
    return line.rstrip()


def main(
    paths: Annotated[list[Path], typer.Argument(help="Corpora, translations, gold, dictionaries.")],
    kb: Annotated[
        Path | None, typer.Option(help="Dictionary whose names filter the mentions of tests.")
    ] = None,
) -> None:
    """Count what corpora hold, beside what the papers print."""
    names = [text for _, text, _ in names_in(kb)] if kb else []
    typer.echo(_line("corpus", "part", "what", "ours", "printed", "difference", "in"))
    for path in paths:
        for name, counts in counts_of(path, names):
            for line in lines_of(name, counts):
                typer.echo(line)
