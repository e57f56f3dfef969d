"""Convert a corpus: read, leave out repeated documents and other splits, check, write."""

import gzip
import json
from collections.abc import Collection, Iterator
from hashlib import sha256
from pathlib import Path

from spacy_medlink.errors import Errors
from spacy_medlink.exchange.documents import Document
from spacy_medlink.types import Progress
from spacy_medlink.util.files import replacing_file
from spacy_medlink.util.outputs import FileKind
from spacy_medlink.util.progress import no_progress

from .layout import no_corpus
from .registry import Corpus
from .tally import Tally
from .writing import to_record

_GOLD = FileKind("a converted corpus")  # gold of any origin looks the same


def convert(
    corpus: Corpus,
    source: Path,
    output: Path,
    tally: Tally,
    splits: Collection[str] = (),
    progress: Progress = no_progress,
    overwrite: bool = False,
) -> None:
    """Write a corpus as gold mentions, all or nothing.

    source (Path): a file or a directory, as `training.download` leaves it.
    output (Path): JSON lines, `.gz` compresses.
    splits (Collection[str]): keep only these; "dev" takes "dev1" and "dev2" too.
    overwrite (bool): replace a file of another kind.
    RAISES (MedlinkError): E107 no source, E160 or E165 no such corpus, E403 a fault when the tally
        is strict, E407 nothing came out, E108 an unknown split, E109 nothing can be written,
        E120-E124 for what is at `output`.
    """
    seen: set[str] = set()
    with (
        replacing_file(output, _GOLD, [source], overwrite=overwrite) as path,
        path.open("wb") as raw,
        # No file name or time in gzip, so that a corpus always gives the same bytes.
        gzip.GzipFile("", "wb", 9, raw, mtime=0) if output.suffix == ".gz" else raw as file,
    ):
        documents = _kept(without_repeats(corpus.read(source, tally), tally), splits, seen)
        for document in progress(documents, None, f"reading {corpus.name}"):
            record = json.dumps(to_record(document, tally), ensure_ascii=False)
            file.write(f"{record}\n".encode())
        for split in splits:
            if not any(belongs(name, split) for name in seen):
                splits_there = ", ".join(sorted(filter(None, seen))) or "none"
                raise Errors.unknown_choice(what="split", value=split, known=splits_there)
        if not tally.mentions:
            for problem, ((path, line, _), *_) in tally.examples.items():
                problem = f"it has {problem}, the first is line {line}"
                raise no_corpus(path, corpus.name, problem, "the unpacked corpus", "a file of")
            remedy = f"Check that it holds the corpus {corpus.name}, unpacked. Nothing was written."
            raise Errors.nothing_there(path=source, what="mention", remedy=remedy)


def _kept(
    documents: Iterator[Document], splits: Collection[str], seen: set[str]
) -> Iterator[Document]:
    for document in documents:
        seen.add(document.split)
        if not splits or any(belongs(document.split, split) for split in splits):
            yield document


def belongs(name: str, split: str) -> bool:
    """Tell whether a split is the wanted one, or a numbered part of it."""
    return name == split or name.rstrip("0123456789") == split or name.startswith(f"{split}.")


def without_repeats(documents: Iterator[Document], tally: Tally) -> Iterator[Document]:
    """Leave out documents with a repeated id; if their content differs, that is a fault."""
    seen: dict[str, bytes] = {}
    for document in documents:
        if document.doc_id:
            key = document.doc_id
            what = repr((document.text, document.split, sorted(document.mentions)))
            content = sha256(what.encode()).digest()
            if key in seen:
                if seen[key] == content:
                    tally.drop("documents that had come before, word for word")
                else:
                    tally.fault(
                        "documents with the id of another one, dropped",
                        document.path, document.line, f"document {document.doc_id}",
                    )  # fmt: skip
                continue
            seen[key] = content
        yield document
