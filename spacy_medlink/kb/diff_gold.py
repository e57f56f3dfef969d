"""What becomes of the links of gold mentions from one knowledge base to the next."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from .diff_changes import Change
from .gold import GoldMention, read_gold
from .knowledge_base import KnowledgeBase


def gold_changes(old: KnowledgeBase, new: KnowledgeBase, gold: Path) -> Iterator[Change]:
    """Stream what becomes of the links of a gold file, mention by mention."""
    verdict = gold_verdict(old, new)
    for mention in mentions_of(gold):
        yield from verdict(mention)


def mentions_of(gold: Path) -> Iterator[GoldMention]:
    """Stream the mentions of a gold file."""
    return (mention for document in read_gold(gold) for mention in document.mentions)


def gold_verdict(
    old: KnowledgeBase, new: KnowledgeBase
) -> Callable[[GoldMention], Iterator[Change]]:
    """Make the function that says what changes for a mention; equal mentions are looked up once."""
    find_old, find_new = _finder(old), _finder(new)

    @lru_cache(maxsize=1 << 16)
    def fate(id: str) -> tuple[str, str]:
        before, after = id in old, id in new
        if before == after:
            return ("", "") if before else ("gold unknown", "")
        if after:
            return "gold gained", ""
        successor = new.resolve(id)
        return ("gold merged", successor) if successor else ("gold lost", "")

    def verdict(mention: GoldMention) -> Iterator[Change]:
        wanted = set(mention.ids)
        for id in mention.ids:
            kind, successor = fate(id)
            if kind:
                yield Change(kind, id, successor, mention.text)
            wanted.add(successor)
        was = not wanted.isdisjoint(find_old(mention.text))
        is_now = not wanted.isdisjoint(find_new(mention.text))
        if was != is_now:
            kind = "gold findable" if is_now else "gold unfindable"
            yield Change(kind, "|".join(mention.ids), text=mention.text)

    return verdict


def _finder(base: KnowledgeBase) -> Callable[[str], frozenset[str]]:
    @lru_cache(maxsize=1 << 16)
    def find(text: str) -> frozenset[str]:
        return frozenset(concept.id for concept in base.find(text))

    return find
