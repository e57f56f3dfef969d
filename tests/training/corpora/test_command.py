"""`python -m training.corpora`: exit codes, what is said, what is left behind."""

import gzip
from functools import partial

import pytest

from spacy_medlink.kb.gold import read_gold
from tests.tables import table
from tests.training.corpora.samples import files_of, write_files
from training.corpora.__main__ import main


@pytest.fixture
def cli(call):
    return partial(call, main)


@pytest.fixture
def source(tmp_path):
    return write_files(tmp_path / "source", files_of("ncbi-disease"))


def test_report(cli, source, tmp_path):
    code, out, err = cli("ncbi-disease", source, tmp_path / "gold.jsonl")
    assert (code, err) == (0, "")
    assert out.splitlines()[1:4] == [
        "3 documents (test 1, train 2)",
        "7 mentions, of which 1 are NIL",
        "  kept: 2 composite mentions: all ids, with a mark",
    ]


def test_compressed_is_the_same_each_time(cli, source, tmp_path):
    plain, packed = tmp_path / "gold.jsonl", tmp_path / "gold.jsonl.gz"
    cli("ncbi-disease", source, plain, "--split", "train")
    contents = set()
    for _ in range(2):
        cli("ncbi-disease", source, packed, "--split", "train")
        contents.add(packed.read_bytes())
    assert len(contents) == 1
    assert gzip.decompress(contents.pop()) == plain.read_bytes()
    assert [document.doc_id for document in read_gold(packed, strict=True)] == ["101", "102"]


def test_strict_stops_and_leaves_nothing(cli, source, tmp_path):
    file = source / "NCBItestset_corpus.txt"
    file.write_text(file.read_text().replace("\t0\t6\t", "\t1\t7\t"))
    output = tmp_path / "gold.jsonl"
    code, out, err = cli("ncbi-disease", source, output, "--strict")
    assert (code, out, err[:6]) == (1, "", "[E403]")
    assert "NCBItestset_corpus.txt, line 3" in err
    assert "Asthma" not in err
    assert not output.exists()
    code, out, _ = cli("ncbi-disease", source, output)
    assert code == 0
    assert "  fault: 1 mentions whose offsets point at something else" in out
    assert "line 3: document 103, offsets 1-7" in out
    assert "Asthma" not in out
    assert (
        "'Asthma', but the text has 'sthma '"
        in cli("ncbi-disease", source, output, "--show-text")[1]
    )


@table(__file__, "errors")
def test_errors(cli, source, tmp_path, arguments, code):
    (tmp_path / "empty.txt").write_text("")
    name, path, *more = arguments
    output = tmp_path / "gold.jsonl"
    exit_code, out, err = cli(name, tmp_path / path, output, *more)
    assert (exit_code, out) == (1, "")
    assert err.startswith(f"[{code}] "), err
    assert not output.exists()


def test_two_documents_with_one_id(cli, source, tmp_path):
    file = source / "NCBItestset_corpus.txt"
    file.write_text(file.read_text().replace("103", "101"))
    code, out, _ = cli("ncbi-disease", source, tmp_path / "gold.jsonl")
    assert code == 0
    assert "  fault: 1 documents with the id of another one, dropped" in out
    code, _, err = cli("ncbi-disease", source, tmp_path / "gold.jsonl", "--strict")
    assert (code, err[:6]) == (1, "[E403]")
