from tests.training.corpora.conftest import Convert

TEXT = "Biopsia: carcinoma\nductal infiltrante; metástasis ósea y hepática."
ANN = (
    "T1\tMORFOLOGIA_NEOPLASIA 9 18;19 37\tcarcinoma ductal infiltrante\n"
    "#1\tAnnotatorNotes T1\t8500/3\n"
    "T2\tMORFOLOGIA_NEOPLASIA 39 49\tmetástasis\n"
    "#2\tAnnotatorNotes T2\t8000/6/H\n"
    "T3\tMORFOLOGIA_NEOPLASIA 39 49;57 65\tmetástasis hepática\n"
)


def test_brat(converted: Convert) -> None:
    files = {
        "train-set/cantemist-norm/cc_onco1.txt": TEXT,
        "train-set/cantemist-norm/cc_onco1.ann": ANN,
        "train-set/cantemist-ner/cc_onco1.txt": TEXT,
        "train-set/cantemist-ner/cc_onco1.ann": "T1\tMORFOLOGIA_NEOPLASIA 9 18\tcarcinoma\n",
        "dev-set1/cantemist-norm/cc_onco2.txt": "Sin tumor.",
        "dev-set1/cantemist-norm/cc_onco2.ann": "",
        "dev-set2/cantemist-norm/cc_onco3.txt": "Sin tumor.",
        "dev-set2/cantemist-norm/cc_onco3.ann": "",
    }
    result = converted("cantemist", files, strict=True)
    assert [(record["doc_id"], record["split"]) for record in result.records] == [
        ("cc_onco2", "dev1"), ("cc_onco3", "dev2"), ("cc_onco1", "train"),
    ]  # fmt: skip
    # The end of a line does not part a mention; other words do.
    assert result.brief() == [
        ("carcinoma\nductal infiltrante", ["8500/3"]),
        ("metástasis", ["8000/6/H"]),
        ("metástasis hepática", []),
    ]
    assert result.mentions[2]["spans"] == [[39, 49], [57, 65]]
    assert "start" not in result.mentions[2]
    assert result.records[2]["lang"] == "es"
    dev = converted("cantemist", files, "dev", "train", strict=True)
    assert len(dev.records) == 3


def test_line_ends_that_offsets_do_not_count(converted: Convert) -> None:
    files = {"train-set/a.txt": TEXT.replace("\n", "\r\n"), "train-set/a.ann": ANN}
    result = converted("cantemist", files, strict=True)
    assert result.records[0]["text"] == TEXT
    shifted = ANN.replace("19 37", "20 38").replace("39 49", "40 50").replace("57 65", "58 66")
    files["train-set/a.ann"] = shifted
    result = converted("cantemist", files, strict=True)
    assert result.records[0]["text"] == TEXT.replace("\n", "\r\n")
    assert result.mentions[0]["mention"] == "carcinoma\r\nductal infiltrante"
