"""Carrying the history of ids from one release of a terminology to the next.

A release lists the successors of some old ids and omits other ids. An update must keep what the
previous knowledge base knew, because annotations and links outlive releases.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from ..types import Record, Retired
from ..util.files import sha256_of
from .knowledge_base import KnowledgeBase
from .scratch import scratch

GONE = "gone"
_FATES = ("in use", "retired by the release", GONE, "retired before", "in use again")
_KEPT = frozenset({GONE, "retired before"})
_COPIED = ("version", "concepts", "names", "retired")
_TABLES = "CREATE TABLE new (id TEXT PRIMARY KEY, is_live INTEGER) WITHOUT ROWID"
_NOTE = (
    "INSERT INTO new VALUES (?, ?)"
    " ON CONFLICT (id) DO UPDATE SET is_live = max(is_live, excluded.is_live)"
)
_FATE = {
    (True, 1): "in use", (True, 0): "retired by the release", (True, None): GONE,
    (False, 1): "in use again", (False, 0): "", (False, None): "retired before",
}  # fmt: skip


class History:
    """The history of ids in the previous knowledge base.

    old (KnowledgeBase): the knowledge base to update.
    """

    def __init__(self, old: KnowledgeBase) -> None:
        self.old = old
        self.counts = Counter(dict.fromkeys(_FATES, 0))

    def apply(self, records: Iterable[Record]) -> Iterator[Record]:
        """Stream the records, then the history of old ids that the records do not mention.

        Ids that were in use and are no longer mentioned are retired with the reason "gone". Retired
        ids stay retired, unless they are in use again. If the old and the new knowledge base differ
        about an id, the new one counts. The ids wait in a temporary file.

        RAISES (MedlinkError): E164 when there is no room for the temporary file.
        """
        with scratch(_TABLES) as db:
            db.execute("BEGIN")
            for record in records:
                # A concept without a name is not written, so its id is not in use.
                is_live = not isinstance(record, Retired) and (
                    bool(record.name.strip()) or any(name.text.strip() for name in record.names)
                )
                if is_live or isinstance(record, Retired):
                    db.execute(_NOTE, (record.id, is_live))
                yield record
            in_use = ((True, Retired(id, "", GONE)) for id in self.old.iter_ids())
            before = ((False, retired) for retired in self.old.retired())
            for was_live, retired in chain(in_use, before):
                row = db.execute("SELECT is_live FROM new WHERE id = ?", retired[:1]).fetchone()
                fate = _FATE[was_live, row[0] if row else None]
                if fate:
                    self.counts[fate] += 1
                if fate in _KEPT:
                    yield retired

    def as_manifest(self) -> dict[str, object]:
        """List the updated knowledge base and the counts of kept ids, for the manifest."""
        copied = {name: self.old.manifest[name] for name in _COPIED if name in self.old.manifest}
        return {
            "name": self.old.path.name,
            "sha256": sha256_of(self.old.path),
            **copied,
            "ids": dict(sorted(self.counts.items())),
        }
