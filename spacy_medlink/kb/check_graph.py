"""Cycles in the hierarchy of terminology files."""

import sqlite3
from collections.abc import Iterator

import numpy as np

PLACE = 1 << 40  # more lines than a file has
_EDGES = (
    "SELECT child.row, parent.row FROM above"
    " JOIN number AS child ON child.id = above.child JOIN number AS parent ON parent.id = parent"
)
_LONGEST = 8  # ids of a cycle that are named


def rings(db: sqlite3.Connection) -> Iterator[tuple[list[str], int]]:
    """Find a cycle in each part of the hierarchy that has one.

    db (Connection): of `check`, with the tables `piece` and `above`. Takes some 40 bytes an edge.
    RETURNS (Iterator): ids of the cycle, the first again at its end (or "..." where it is long),
        and where its first one stands: number of the file * PLACE + line.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    db.execute(
        f"CREATE TABLE number AS SELECT id, min(file * {PLACE} + line) AS place,"
        f" row_number() OVER (ORDER BY min(file * {PLACE} + line), id) - 1 AS row"
        " FROM piece GROUP BY id"
    )
    db.execute("CREATE INDEX number_id ON number (id)")
    db.execute("CREATE INDEX number_row ON number (row)")
    (count,) = db.execute("SELECT count(*) FROM number").fetchone()
    edges = np.fromiter(
        (row for edge in db.execute(_EDGES) for row in edge), dtype=np.int64
    ).reshape(-1, 2)
    if not len(edges):
        return
    ones = np.ones(len(edges), dtype=np.int8)
    graph = csr_array((ones, (edges[:, 0], edges[:, 1])), shape=(count, count))
    _, part_of = connected_components(graph, connection="strong")
    loops = edges[edges[:, 0] == edges[:, 1], 0]
    _, first, sizes = np.unique(part_of, return_index=True, return_counts=True)
    inside = edges[(part_of[edges[:, 0]] == part_of[edges[:, 1]]) & (edges[:, 0] != edges[:, 1])]
    above = {int(child): int(parent) for child, parent in inside[::-1]}  # a parent in the cycle
    found_rows = [[int(loop)] for loop in np.unique(loops)]
    found_rows += [_ring(one, above) for one in np.sort(first[sizes > 1]).tolist()]
    for rows in found_rows:
        query = "SELECT id, place FROM number WHERE row = ?"
        found = [db.execute(query, (row,)).fetchone() for row in rows[:_LONGEST]]
        ids = [id for id, _ in found]
        yield [*ids, "..." if len(rows) > _LONGEST else ids[0]], found[0][1]


def _ring(start: int, above: dict[int, int]) -> list[int]:
    """Walk up until a row comes again; the walk from there on is a cycle."""
    seen: dict[int, int] = {}
    row = start
    while row not in seen:
        seen[row] = len(seen)
        row = above[row]
    return list(seen)[seen[row] :]
