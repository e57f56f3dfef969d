"""The folds of CODER: five folders, and what is wrong with them is said with its line."""

import pytest

from spacy_medlink.errors import MedlinkError
from tests.training.papers import toy
from training.corpora import coder
from training.corpora.tally import Tally

FILES: dict[str, str | bytes] = {
    f"cadec/CADEC_{fold}/{name}": lines
    for fold in range(5)
    for name, lines in {
        "standard.txt": "22253000\tpain\r\n84229001\tfatigue\r\n",
        "test.txt": f"22253000\thurts {fold}\n22253000\thurts {fold}\n\n84229001\tso tired\n",
        "train.txt": "not read",
    }.items()
}


def test_phrases_of_a_fold_stay_as_often_as_they_are(converted):
    fold = converted("coder-folds", FILES, "fold-3.test", strict=True)
    assert fold.brief() == [
        ("hurts 3", ["22253000"]), ("hurts 3", ["22253000"]), ("so tired", ["84229001"]),
    ]  # fmt: skip


def test_targets_have_one_name_each(tmp_path):
    toy.coder_folds(tmp_path)
    targets = coder.read_targets(tmp_path / "psytar_disjoint_folds")
    assert [(one.id, one.name) for one in targets] == [
        (one.code, one.names["en"][0]) for one in toy.concepts()
    ]


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("CADEC_2/test.txt", "100100\tpain\n100100 no tab\n", "test.txt.*line 2"),
        ("CADEC_2/test.txt", "100100\tpain\n1\tunknown\n", "test.txt.*line 2.*target '1'"),
        ("CADEC_2/test.txt", "100100\tpain\tmore\n", "test.txt.*line 1"),
        ("CADEC_2/test.txt", "", "test.txt.*line 1 is missing"),
        ("CADEC_2/test.txt", None, "4 of its folders have a test.txt"),
        ("CADEC_2/standard.txt", "code\tname\n", "standard.txt.*line 1"),
        ("CADEC_2/standard.txt", "100100\tpain\n100100\tache\n", "standard.txt.*line 2"),
    ],
)
def test_what_is_no_fold_is_said_with_its_line(tmp_path, file, text, said):
    toy.coder_folds(tmp_path)
    path = tmp_path / "cadec" / file
    path.unlink() if text is None else path.write_text(text, "utf-8")
    with pytest.raises(MedlinkError, match=rf"(?s)E160.*{said}.*github.com/GanjinZero/CODER"):
        list(coder.read(tmp_path / "cadec", Tally()))


def test_a_folder_without_folds(tmp_path):
    with pytest.raises(MedlinkError, match=r"E160.*no folder in it has a standard.txt"):
        coder.read_targets(tmp_path)
