import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.scratch import scratch


def test_a_full_disk_is_said_with_the_remedy() -> None:
    # SQLite's own limit on pages fails in the very way that a full disk does.
    with (
        pytest.raises(MedlinkError, match=r"E164.*full.*TMPDIR"),
        scratch("PRAGMA max_page_count = 20; CREATE TABLE t (x TEXT)") as db,
    ):
        db.executemany("INSERT INTO t VALUES (?)", (("x" * 1000,) for _ in range(1000)))


def test_nothing_is_left_behind() -> None:
    with scratch("CREATE TABLE t (x TEXT)") as db:
        db.execute("INSERT INTO t VALUES ('a')")
        assert db.execute("PRAGMA database_list").fetchone()[2] == ""  # a file without a name
    with scratch("CREATE TABLE t (x TEXT)") as db:
        assert db.execute("SELECT count(*) FROM t").fetchone() == (0,)
