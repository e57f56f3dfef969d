"""Mentions to train on: distinct strings of annotated text, with the names of their concepts."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spacy_medlink.errors import Errors, MedlinkError
from spacy_medlink.evaluation import load_gold
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.resolve import IdResolver
from spacy_medlink.types import Hashes1d, Ints1d

from ..recipe.settings import Occurrences
from .names import TrainingNames, string_hash


@dataclass(frozen=True)
class Mentions:
    """Mentions of a gold file, ignoring case, each with its concept.

    texts (Tuple[str]): abbreviations defined in the document are expanded.
    concepts (Ints1d): concept rows, (n,). counts (Ints1d): how often each occurs, (n,).
    left_out (Dict[str, int]): number of unusable mentions, by reason.
    """

    texts: tuple[str, ...]
    concepts: Ints1d
    counts: Ints1d
    left_out: dict[str, int]

    def __len__(self) -> int:
        return len(self.texts)


def known_types(mentions: Iterable[tuple[str, Collection[str]]], kb: KnowledgeBase) -> set[str]:
    """List the types of mentions that the knowledge base covers, at least for most mentions.

    mentions (Iterable[Tuple[str, Collection[str]]]): type and ids of each; mentions without an id
        do not count.
    """
    counts: Counter[str] = Counter()
    resolver = IdResolver(kb)
    for type, ids in mentions:
        if ids:
            counts[type] += 1 if any(resolver.rows(id) for id in ids) else -1
    return {type for type, count in counts.items() if count > 0}


def read_mentions(path: Path, kb: KnowledgeBase, occurrences: Occurrences = "root") -> Mentions:
    """Read the mentions of a gold file whose one concept is in the knowledge base.

    occurrences (str): "each" lists a mention as often as it occurs, "once" each string once with
        each of its concepts. "root" lists each string once: one with several concepts gets the most
        frequent, in a tie the lowest row, since an encoder without context can learn no more.
    RAISES (MedlinkError): E107, E401-E407 for the file, E407 when no mention is left.
    """
    left_out: Counter[str] = Counter()
    seen: Counter[tuple[str, int]] = Counter()
    for case in load_gold(path, kb).cases():
        text = (case.mention.long_form or case.mention.text).strip()
        reason = _why_not(text, len(case.gold.ids), len(case.right))
        if reason:
            left_out[reason] += 1
        else:
            seen[text.lower(), min(case.right)] += 1
    if not seen:
        raise Errors.nothing_there(
            path=path,
            what=f"mention to train on (left out: {dict(left_out)})",
            remedy="Check that it is the gold file that belongs to this knowledge base.",
        )
    pairs = list(seen.elements() if occurrences == "each" else seen)
    if occurrences == "root":
        best = dict(sorted(pairs, key=lambda pair: (seen[pair], -pair[1])))  # the last one stays
        pairs = [(text, best[text]) for text in dict.fromkeys(text for text, _ in pairs)]
    counts = [seen[pair] if occurrences == "root" else 1 for pair in pairs]
    concepts = np.array([row for _, row in pairs], dtype=np.int64)
    return Mentions(tuple(text for text, _ in pairs), concepts, np.array(counts), dict(left_out))


def why_nothing(kb: KnowledgeBase, *files: Path | None) -> str:
    """Return why one of the gold files has nothing to train on; "" where all have.

    RAISES (MedlinkError): E107, E401-E403, E405-E407 for a file.
    """
    for path in filter(None, files):
        try:
            read_mentions(path, kb)
        except MedlinkError as error:
            if error.code == Errors.no_gold.code:
                return f"{path} has no annotated mention"
            if error.code == Errors.nothing_there.code:
                return f"no mention of {path} has one concept that the knowledge base has"
            raise
    return ""


def _why_not(text: str, ids: int, rows: int) -> str:
    if not text:
        return "blank"
    if not ids:
        return "no concept"
    if not rows:
        return "concept not in the knowledge base"
    return "several concepts" if rows > 1 else ""


@dataclass(frozen=True)
class NamesAndMentions(TrainingNames):
    """Training names and mentions; the row of a mention is -1 - its number.

    is_mention (NDArray[bool]): (n,). Mentions are not trainable: they move to the names of their
    concept, and no name moves to them, since linking compares with names only.
    """

    is_mention: NDArray[np.bool_]


def join(names: TrainingNames, mentions: Mentions, every: bool = False) -> NamesAndMentions:
    """Merge names and mentions, in the order of their concepts.

    every (bool): also mentions that equal a name of their concept, which is there already.
    """
    strings = np.array([string_hash(text) for text in mentions.texts], dtype=np.uint64)
    new = np.flatnonzero(~_are_names(names, mentions.concepts, strings) | every)
    texts = [mentions.texts[row] for row in new.tolist()]
    not_trainable = np.zeros(len(new), dtype=np.bool_)
    taught = TrainingNames(-1 - new, mentions.concepts[new], strings[new], not_trainable, texts)
    both = names + taught
    order = np.argsort(both.concepts, kind="stable")
    return NamesAndMentions(
        both.rows[order],
        both.concepts[order],
        both.strings[order],
        both.trainable[order],
        both.texts_at(order),
        order >= len(names),
    )


def _are_names(names: TrainingNames, concepts: Ints1d, strings: Hashes1d) -> NDArray[np.bool_]:
    named = set(zip(names.concepts.tolist(), names.strings.tolist(), strict=True))
    pairs = zip(concepts.tolist(), strings.tolist(), strict=True)
    return np.fromiter((pair in named for pair in pairs), dtype=np.bool_, count=len(concepts))
