"""COMETA (Basaldella et al. 2020): 20,015 layman's terms from Reddit, SNOMED CT.

Tab-separated, a term a line, with an example sentence that mostly holds the term. There are four
divisions, stratified or zero-shot, with general ids (the concept) or specific ones (the meaning in
the sentence), and a random one; each has train.csv, dev.csv and test.csv.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from spacy_medlink.exchange.documents import Document, Mention
from spacy_medlink.exchange.ids import split_ids

from .layout import files_of, find_said, no_corpus, split_of
from .tables import Aliases, read_table
from .tally import Tally

_EXPECTED = "a division such as stratified_general/ with train.csv, dev.csv and test.csv"
_TERM: Aliases = {"term": ("Term",)}
_MORE: Aliases = {"id": ("ID",), "example": ("Example",)}


def _read(column: str, source: Path, tally: Tally) -> Iterator[Document]:
    files = list(files_of(source, r"(train|dev|test)\.(csv|tsv)", "cometa", _EXPECTED))
    if len({path.parent for path in files}) > 1:
        problem = "it has several divisions, which share their terms"
        raise no_corpus(source, "cometa", problem, _EXPECTED)
    for path in files:
        split = split_of(path, source)
        for line, row in read_table(path, tally, {**_TERM, "code": (column,)}, _MORE):
            if not row["term"]:
                tally.fault("rows without a term", path, line)
                continue
            example = row.get("example", "")
            spans = find_said(example, row["term"])
            mention = Mention(row["term"], spans, split_ids(row["code"], "|+"), line=line)
            # Some examples lack the term: these give no context.
            text = example if spans else None
            if example and not spans:
                tally.note("terms that their example does not hold, without it")
            doc_id = f"{split}-{row['id']}" if row.get("id") else ""
            yield Document(doc_id, text, (mention,), path, "en", split, line)


read_general = partial(_read, "General SNOMED ID")
read_specific = partial(_read, "Specific SNOMED ID")
