"""GSC+ (Lobo et al. 2017) and GSC-2024 (Groza et al. 2024): 228 abstracts, phenotypes, HPO ids.

Of GSC+ there are two releases: a directory of texts and one of annotations, a file each
(`[27::42]<tab>HP_0000110 | renal dysplasia`); and the files of PhenoTagger with its own division
(`GSCplus_dev_gold.tsv`: id, text, then `start<tab>end<tab>mention<tab>id` lines, then a blank one).
GSC-2024 corrects GSC+ and has such directories, too (`[27:42]<tab>HP:0000110<tab>renal dysplasia`).
"""

import re
from collections.abc import Iterator
from pathlib import Path

from spacy_medlink.exchange.documents import Document, Ids, Mention
from spacy_medlink.exchange.ids import split_ids
from spacy_medlink.exchange.lines import read_lines, to_span

from .layout import no_corpus, pairs, read_mentions, split_of, walk
from .tally import Tally

_EXPECTED = "the directory with Text/ and Annotations/, or GSCplus_dev_gold.tsv"
_ANNOTATION = re.compile(r"\[?(\d{1,9})::?(\d{1,9})\]?\t(HP[_:]\d+)\s*[|\t]\s*(?:.*\t)?(.*)")


def read(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the documents of either release."""
    if source.is_file():
        yield from _gold_file(source, source, tally)
        return
    files = list(walk(source))
    gold = [path for path in files if re.fullmatch(r"GSCplus_\w+_gold\.tsv", path.name)]
    if gold:
        for path in gold:
            yield from _gold_file(path, source, tally)
    else:
        yield from _pairs(source, files, tally)


def _gold_file(path: Path, source: Path, tally: Tally) -> Iterator[Document]:
    block: list[tuple[int, str]] = []
    for line_number, line in read_lines(path, tally):
        if line.strip():
            block.append((line_number, line))
        elif block:
            yield from _document(block, path, source, tally)
            block = []
    if block:
        yield from _document(block, path, source, tally)


def _document(
    block: list[tuple[int, str]], path: Path, source: Path, tally: Tally
) -> Iterator[Document]:
    (line_number, doc_id), *rest = block
    if not rest or "\t" in rest[0][1]:
        tally.fault("documents without a text", path, line_number)
        return
    mentions = []
    for line, annotation in rest[1:]:
        cells = [cell.strip() for cell in annotation.split("\t")]
        span = to_span(cells[0], cells[1]) if len(cells) >= 4 else None
        if span is None:
            tally.fault("lines that are no mention", path, line)
        else:
            mentions.append(Mention(cells[2], (span,), _ids(cells[3]), "Phenotype", line=line))
    split = split_of(path, source)
    yield Document(doc_id.strip(), rest[0][1], tuple(mentions), path, split=split, line=line_number)


def _pairs(source: Path, files: list[Path], tally: Tally) -> Iterator[Document]:
    texts = {path.stem: [path] for path in files if path.parent.name.lower().startswith("text")}
    annotations = [path for path in files if path.parent.name.lower().startswith("annot")]
    if not texts or not annotations:
        problem = "neither Text/ and Annotations/ nor a file GSCplus_*_gold.tsv is in it"
        raise no_corpus(source, "gsc-plus", problem, _EXPECTED)
    for path, text in pairs(annotations, texts, tally):
        yield Document(path.stem, text, read_mentions(path, tally, _mention), path)


def _mention(line: str) -> Mention | None:
    annotation = _ANNOTATION.fullmatch(line)
    if annotation is None:
        return None
    start, end, id, mention_text = annotation.groups()
    return Mention(mention_text.strip(), ((int(start), int(end)),), _ids(id), "Phenotype")


def _ids(cell: str) -> Ids:
    return split_ids(cell.replace("HP_", "HP:"), ";,|")
