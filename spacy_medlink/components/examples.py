"""Readers and a batcher for `spacy train`: annotated text, or the knowledge base's own names."""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from spacy.tokens import Span
from spacy.training import Example

from ..errors import Errors, Warnings
from ..util.telling import tell
from .finding.tokens import with_cuts
from .reading import make_doc

if TYPE_CHECKING:
    from spacy.language import Language

    from ..kb.gold import GoldDocument

_LABEL = "CONCEPT"
Reader = Callable[["Language"], Iterator[Example]]
Batcher = Callable[[Iterable[Example]], Iterator[list[Example]]]


def gold_reader(path: str, label: str = _LABEL) -> Reader:
    """Make `spacy-medlink.GoldReader.v1`: the documents of a gold file as Examples.

    Mentions become entities with a `kb_id` (the first of several ids; NIL without any). Tokens of
    the reference are cut at the words of mentions, whatever tokens the pipeline makes. Mentions
    that cut a word, or overlap with one before, are left out with one warning.

    path (str): a `.jsonl` or `.jsonl.gz` file. label (str): of mentions without a type.
    RAISES (MedlinkError): E107, E401-E403 for the file, when it is read.
    """
    file = Path(path)

    def read(nlp: "Language") -> Iterator[Example]:
        from ..kb.gold import read_gold

        count = left_out = 0
        for document in read_gold(file):
            example, dropped = _of_document(nlp, document, label)
            count, left_out = count + len(document.mentions), left_out + dropped
            yield example
        if left_out:
            text = Warnings.off_tokens.format(path=file, count=left_out, n=count)
            tell(text)

    return read


def _of_document(nlp: "Language", document: "GoldDocument", label: str) -> tuple[Example, int]:
    """Make the Example of a document. RETURNS it, and the number of mentions left out."""
    bare = document.text is None
    text = document.mentions[0].text if bare and document.mentions else document.text or ""
    reference = make_doc(nlp, text)
    if not bare:
        ends = {end for mention in document.mentions for end in (mention.start, mention.end)}
        is_within = re.compile(r"(?<=[^\W\d_])(?=[^\W\d_])|(?<=\d)(?=\d)").match
        reference = with_cuts(reference, [end for end in ends if not is_within(text, end)])
    spans: list[Span] = []
    for mention in sorted(document.mentions, key=lambda mention: (mention.start, -mention.end)):
        start, end = (0, len(text)) if bare else (mention.start, mention.end)
        span = reference.char_span(
            start, end, label=mention.type or label, kb_id=mention.ids[0] if mention.ids else "NIL"
        )
        if span is not None and (not spans or span.start >= spans[-1].end):
            spans.append(span)
    reference.set_ents(spans)
    return Example(make_doc(nlp, text), reference), len(document.mentions) - len(spans)


def synonym_reader(kb: str, names_per_concept: int = 8) -> Reader:
    """Make `spacy-medlink.SynonymReader.v1`: names of a knowledge base as mentions of themselves.

    So `spacy train` teaches a linker its terminology (SAP) where there is no annotated text. Only
    concepts with two names or more are read.

    kb (str): a file that `medlink kb build` wrote. names_per_concept (int): at most, in the order
        of the knowledge base.
    RAISES (MedlinkError): E101-E103 when it cannot be opened; E302 for fewer than 2 names.
    """
    path = Path(kb)
    if names_per_concept < 2:
        rule = "must be at least 2: a name is drawn to another one"
        raise Errors.bad_setting(name="names_per_concept", value=names_per_concept, rule=rule)

    def read(nlp: "Language") -> Iterator[Example]:
        from ..kb import KnowledgeBase
        from ..text.normalisation import key

        for concept in KnowledgeBase(path):
            names = {key(name.text): name.text for name in reversed(concept.names)}
            if len(names) < 2:
                continue
            for text in list(reversed(names.values()))[:names_per_concept]:
                reference = make_doc(nlp, text)
                if len(reference):
                    entity = Span(reference, 0, len(reference), label=_LABEL, kb_id=concept.id)
                    reference.set_ents([entity])
                    yield Example(make_doc(nlp, text), reference)

    return read


def synonym_batcher(size: int, names_per_concept: int = 2) -> Batcher:
    """Make `spacy-medlink.SynonymBatcher.v1`: batches in which a concept comes more than once.

    Examples are shuffled before they are batched; here those of one concept come together again,
    so many at a time, in the order in which the shuffle put the first of them.

    size (int): Examples a batch, about. names_per_concept (int): of a concept that come together,
        at least, where there are so many.
    RAISES (MedlinkError): E302 for a size below names_per_concept.
    """
    if size < names_per_concept or names_per_concept < 1:
        rule = f"must be at least names_per_concept ({names_per_concept}), and that at least 1"
        raise Errors.bad_setting(name="size", value=size, rule=rule)

    def batches(examples: Iterable[Example]) -> Iterator[list[Example]]:
        by_concept: dict[str, list[Example]] = {}
        for row, example in enumerate(examples):
            ids = [ent.kb_id_ for ent in example.reference.ents if ent.kb_id_]
            by_concept.setdefault(ids[0] if ids else f"\0{row}", []).append(example)
        batch: list[Example] = []
        for together in _portions(by_concept, names_per_concept):
            if batch and len(batch) + len(together) > size:
                yield batch
                batch = []
            batch += together
        if batch:
            yield batch

    return batches


def _portions(groups: dict[str, list[Example]], least: int) -> Iterator[list[Example]]:
    """Take `least` Examples of each group in turn until all are used; a smaller rest goes along."""
    waiting = list(groups.values())
    while waiting:
        left = []
        for group in waiting:
            count = least if len(group) >= 2 * least else len(group)
            yield group[:count]
            if group[count:]:
                left.append(group[count:])
        waiting = left
