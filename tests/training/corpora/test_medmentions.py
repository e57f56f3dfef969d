import gzip

import pytest

from spacy_medlink.errors import MedlinkError
from tests.training.corpora.conftest import Convert


def _block(pmid: str) -> str:
    return (
        f"{pmid}|t|Chronic cough in adults\n{pmid}|a|Cough was measured.\n"
        f"{pmid}\t0\t13\tChronic cough\tT184\tUMLS:C0010201\n"
        f"{pmid}\t24\t29\tCough\tT184,T033\tC0010200\n\n"
    )


FULL = "".join(map(_block, ("1", "2", "3")))
FILES = {
    "full/data/corpus_pubtator.txt.gz": gzip.compress(FULL.encode()),
    "full/data/corpus_pubtator_pmids_all.txt": "1\n2\n3\n",
    "full/data/corpus_pubtator_pmids_trng.txt": "1\n",
    "full/data/corpus_pubtator_pmids_dev.txt": "2\n",
    "full/data/corpus_pubtator_pmids_test.txt": "3\n",
    "st21pv/data/corpus_pubtator.txt.gz": gzip.compress(_block("2").encode()),
}


def test_full_with_the_official_splits(converted: Convert) -> None:
    result = converted("medmentions", FILES, strict=True)
    assert [(record["doc_id"], record["split"]) for record in result.records] == [
        ("1", "train"), ("2", "dev"), ("3", "test"),
    ]  # fmt: skip
    assert result.brief()[:2] == [("Chronic cough", ["C0010201"]), ("Cough", ["C0010200"])]
    assert result.mentions[1]["type"] == "T184,T033"


def test_st21pv_takes_the_splits_of_the_full_set(converted: Convert) -> None:
    result = converted("medmentions-st21pv", FILES, "dev", strict=True)
    assert [record["doc_id"] for record in result.records] == ["2"]


def test_file_alone_has_no_splits(converted: Convert) -> None:
    files = {"corpus_pubtator.txt": FULL}
    result = converted("medmentions", files, file="corpus_pubtator.txt")
    assert not any("split" in record for record in result.records)


def test_document_in_no_list_and_in_two(converted: Convert) -> None:
    files = {
        **FILES,
        "full/data/corpus_pubtator_pmids_dev.txt": "1\n",
        "full/data/corpus_pubtator_pmids_test.txt": "3\n",
    }
    result = converted("medmentions", files)
    assert result.tally.noted == {"documents that are in no list of a split": 1}
    assert result.tally.faults == {"documents in the lists of two splits": 1}


def test_cut_off_gzip(converted: Convert) -> None:
    name = "full/data/corpus_pubtator.txt.gz"
    content = FILES[name]
    assert isinstance(content, bytes)
    with pytest.raises(MedlinkError, match=r"E165.*gzip"):
        converted("medmentions", {**FILES, name: content[: len(content) // 2]})
