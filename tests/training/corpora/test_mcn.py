from tests.training.corpora.conftest import Convert

TEXT = "Seen for chest pain , rales at left\nand right base .\n"
FILES = {
    "train/train_file_list.txt": "0001\n",
    "train/train_note/0001.txt": TEXT,
    "train/train_norm/0001.norm": "N001||C0008031||9||19\nN002||CUI-less||31||35||46||50\n"
    "N003||C0034642||22||27\n",
}


def test_notes(converted: Convert) -> None:
    result = converted("mcn", FILES, strict=True)
    assert result.brief() == [
        ("chest pain", ["C0008031"]),
        ("left base", []),
        ("rales", ["C0034642"]),
    ]
    assert result.mentions[1]["spans"] == [[31, 35], [46, 50]]
    assert result.records[0]["split"] == "train"
    assert result.tally.nil == 1


def test_faults_do_not_show_the_notes(converted: Convert) -> None:
    norm = "N001||C0008031||9||900\nN002||C0008031||9\nN003||C0008031||9||19\n"
    result = converted("mcn", {**FILES, "train/train_norm/0001.norm": norm})
    assert result.brief() == [("chest pain", ["C0008031"])]
    told = "\n".join(result.tally.report())
    assert "outside the text" in told
    assert "chest" not in told
