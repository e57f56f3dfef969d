from tests.training.corpora.conftest import Convert


def test_concept_files(converted: Convert) -> None:
    files = {
        "processed_train/101.concept": "101||0|4||SpecificDisease||gout||D006073\n"
        "101||9|33||CompositeMention||breast cancer|ovarian cancer||D001943|D010051\n",
        "processed_dev/102.concept": "-1||0|0||Disease||dizzy||404640003\n\nhalf a line\n",
    }
    result = converted("biosyn", files)
    assert result.brief() == [
        ("dizzy", ["404640003"]),
        ("gout", ["D006073"]),
        ("breast cancer ovarian cancer", ["D001943", "D010051"]),
    ]
    assert [record["split"] for record in result.records] == ["dev", "train"]
    assert "start" not in result.mentions[0]
    assert (result.mentions[1]["start"], result.mentions[1]["end"]) == (0, 4)
    assert result.mentions[2]["parts"] == ["breast cancer", "ovarian cancer"]
    assert result.tally.faults == {"lines that are no mention": 1}
