"""Fuzzing of all converters: what a damaged file gives is exact, or a coded error, or counted."""

import random

import pytest

from tests.mutants import mutate, rounds, told
from tests.training.corpora.samples import SOUND, write_files
from tests.training.corpora.test_samples import check
from training.corpora.convert import without_repeats
from training.corpora.registry import find_corpus
from training.corpora.tally import Tally
from training.corpora.writing import to_record

SHARDS = (
    b"\t\t\t", b"|t|", b"|a|", b"<", b">", b"</", b"&", b"&amp;", b"&x;", b";;", b"::", b"T1\t",
    b"-", b"#1\tAnnotatorNotes T1\t", b"9", b"9" * 30, "é".encode(), "９".encode(),
)  # fmt: skip
# No source, no corpus, damaged, entities.
EXPECTED = {"E107", "E160", "E165", "E105"}
EACH = pytest.mark.parametrize(
    ("files", "run"), [(one.files, run) for one, run in SOUND], ids=[one.shows for one, _ in SOUND]
)


def read(folder, run, strict=False):
    tally = Tally(strict)
    documents = find_corpus(run.corpus).read(folder / run.part, tally)
    return [to_record(one, tally) for one in without_repeats(documents, tally)], tally


def fuzz(files, run, folder, chance):
    """Damage one file of a corpus; tell whether something was counted."""
    victim = chance.choice(sorted(files))
    path = folder / victim
    path.write_bytes(mutate(files[victim], chance, SHARDS))
    found, _ = told(lambda: read(folder, run), EXPECTED, str(folder))
    path.write_bytes(files[victim])
    if found is None:
        return True
    check(*found)
    return bool(found[1].faults)


@rounds(30, 3_000)
@EACH
def test_mutants(files, run, rounds, tmp_path):
    folder, chance = write_files(tmp_path, files), random.Random(f"{run.said} {rounds}")
    noticed = sum(fuzz(files, run, folder, chance) for _ in range(rounds))
    assert noticed, "no damage was noticed at all"


@EACH
@pytest.mark.parametrize("change", ["bom", "crlf"])
def test_harmless_changes(files, run, change, tmp_path):
    """A mark of UTF-8 and the line ends of Windows change nothing, in texts neither."""
    if (run.corpus, change) == ("mcn", "crlf"):
        pytest.skip("it gives no words that could tell which line ends its offsets count")
    if any(b"\r\n" in data for data in files.values()):
        pytest.skip("its line ends are those of Windows already")
    expected, _ = read(write_files(tmp_path / "plain", files), run)
    changed = {
        name: data if name.endswith((".gz", ".xlsx"))
        else b"\xef\xbb\xbf" + data if change == "bom" else data.replace(b"\n", b"\r\n")
        for name, data in files.items()
    }  # fmt: skip
    records, tally = read(write_files(tmp_path / "changed", changed), run, strict=True)
    assert tally.mentions == sum(len(record.get("mentions", [1])) for record in records)
    for record in [*records, *expected]:
        if record.get("text"):  # a text without mentions keeps its own line ends
            record["text"] = record["text"].replace("\r\n", "\n")
    assert records == expected
