from tests.training.corpora.conftest import Convert

FILES: dict[str, str | bytes] = {
    f"AskAPatient/AskAPatient.fold-{fold}.{split}.txt": f"102491009\tAching\t{split} ache {fold}\n"
    for fold in range(10)
    for split in ("train", "validation", "test")
}


def test_ten_folds(converted: Convert) -> None:
    result = converted("askapatient", FILES, strict=True)
    assert len(result.records) == 30
    assert len(result.tally.splits) == 30


def test_a_fold_and_a_split_of_it(converted: Convert) -> None:
    fold = converted("askapatient", FILES, "fold-3", strict=True)
    assert {record["split"] for record in fold.records} == {
        "fold-3.train", "fold-3.validation", "fold-3.test",
    }  # fmt: skip
    test = converted("askapatient", FILES, "fold-3.test", strict=True)
    assert test.brief() == [("test ache 3", ["102491009"])]


def test_latin_1(converted: Convert) -> None:
    name = "AskAPatient.fold-0.train.txt"
    line = "102491009\tAching\tcouldn´t move\nno tabs here\n".encode("latin-1")
    result = converted("askapatient", {name: line})
    assert result.brief() == [("couldn´t move", ["102491009"])]
    assert result.tally.faults == {"lines that have not the form": 1}
