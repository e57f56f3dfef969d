import pytest

from spacy_medlink.errors import MedlinkError
from tests.training.corpora.conftest import Convert


def test_v0(converted: Convert) -> None:
    files = {
        "fi_1k_test_query.txt": "C0010200||yskä\nC0015967||kuume\n",
        "de_1k_test_query.txt": "C0010200||Husten\n",
        "all_1k_test_query.txt": "C0010200||Husten\nC0010200||yskä\n",
    }
    result = converted("xl-bel", files, strict=True)
    assert result.brief() == [
        ("Husten", ["C0010200"]), ("yskä", ["C0010200"]), ("kuume", ["C0015967"]),
    ]  # fmt: skip
    assert [record["lang"] for record in result.records] == ["de", "fi", "fi"]
    assert all("text" not in record and record["split"] == "test" for record in result.records)


def test_v1_has_the_sentence(converted: Convert) -> None:
    line = "C0010200||yskä||Potilaalla oli kova <tgt>yskä</tgt> ja <b>kuume</b>.\n"
    result = converted("xl-bel-v1", {"fi_1k_test_query_with_context.txt": line}, strict=True)
    (record,) = result.records
    assert record["text"] == "Potilaalla oli kova yskä ja <b>kuume</b>."
    assert (result.mentions[0]["start"], result.mentions[0]["end"]) == (20, 24)
    assert "doc_id" not in record


def test_mark_that_is_missing_or_holds_something_else(converted: Convert) -> None:
    lines = (
        "C0010200||Husten||Er hatte Husten.\n"
        "C0010200||Husten||Er <tgt>hustete</tgt> viel.\n"
        "C0010200\n"
    )
    result = converted("xl-bel-v1", {"de_1k_test_query_with_context.txt": lines})
    assert result.brief() == [("Husten", ["C0010200"])] * 2
    assert not any("start" in mention for mention in result.mentions)
    assert result.tally.faults == {
        "sentences without a marked mention": 1,
        "mentions whose offsets point at something else, kept without offsets": 1,
        "lines that have not the form": 1,
    }


@pytest.mark.parametrize("corpus", ["xl-bel", "xl-bel-v1", "askapatient"])
@pytest.mark.parametrize(
    "text",
    [
        "<!DOCTYPE html>\n<title>Not found</title>\n",
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        "yskä||C0010200\n",
        "Aching\tAching\t102491009\n",
        "\nC0010200||\nC0010200||yskä\n",
        "",
    ],
)
def test_a_file_that_is_not_what_its_name_says(converted: Convert, corpus: str, text: str) -> None:
    name = {
        "xl-bel": "fi_1k_test_query.txt",
        "xl-bel-v1": "fi_1k_test_query_with_context.txt",
        "askapatient": "AskAPatient.fold-0.test.txt",
    }[corpus]
    with pytest.raises(MedlinkError, match=rf"(?s)E160.*{name}.* (line .*https:|Git LFS)"):
        converted(corpus, {name: text})


def test_versions_are_not_taken_for_each_other(converted: Convert) -> None:
    files = {
        "v0/fi_1k_test_query.txt": "C0010200||yskä\n",
        "v1/fi_1k_test_query_with_context.txt": "C0015967||kuume||Oli <tgt>kuume</tgt>.\n",
    }
    assert converted("xl-bel", files, strict=True).brief() == [("yskä", ["C0010200"])]
    assert converted("xl-bel-v1", files, strict=True).brief() == [("kuume", ["C0015967"])]
