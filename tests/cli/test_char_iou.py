"""`medlink evaluate --metric char-iou`: tables in and out, and a memory that heeds sections."""

import pytest

from spacy_medlink.annotate.evaluate import evaluate_characters
from spacy_medlink.assets import build_assets
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import build_knowledge_base
from spacy_medlink.kb.annotated_notes import dump_annotations, read_annotations
from spacy_medlink.kb.gold import read_gold

# "CP" is chest pain as the complaint, cerebral palsy in the history.
NOTES = {
    f"n{number}": f"Past medical history: CP, asthma, no. {number}.\n\nChief complaint: CP today.\n"
    for number in range(6)
}
IDS = ("128188000", "195967001", "29857009")


@pytest.fixture
def gold(tmp_path):
    rows = ["note_id,start,end,concept_id"]
    for note, text in NOTES.items():
        places = (text.index("CP"), text.index("asthma"), text.rindex("CP"))
        for start, length, id in zip(places, (2, 6, 2), IDS, strict=True):
            rows.append(f"{note},{start},{start + length},{id}")
    (tmp_path / "gold").mkdir()
    (tmp_path / "gold" / "notes.csv").write_text(
        "note_id,text\n" + "".join(f'{note},"{text}"\n' for note, text in NOTES.items())
    )
    (tmp_path / "gold" / "annotations.csv").write_text("\n".join(rows) + "\n")
    return tmp_path / "gold" / "annotations.csv"


@pytest.mark.parametrize("content", ["größe;x\n", '"', "note_id;text\n1;ü\n", ""])
def test_other_tables_beside_the_notes_may_be_any(gold, content):
    (gold.parent / "a_list.csv").write_bytes(content.encode("latin1"))
    assert len(list(read_gold(gold))) == len(NOTES)


@pytest.mark.parametrize("content", [b"note_id,text\nn9\n", b"note_id,text\nn9,\xfc\n"])
def test_bad_notes_are_told(gold, content):
    (gold.parent / "more.csv").write_bytes(content)
    with pytest.raises(MedlinkError, match=r"E401.*more.csv, line 2"):
        list(read_gold(gold))


@pytest.fixture
def assets(tmp_path):
    (tmp_path / "a.csv").write_text(
        "id,name,synonyms\n128188000,Cerebral palsy,CP\n195967001,Asthma,\n"
        "29857009,Chest pain,CP\n22298006,Myocardial infarction,\n"
    )
    build_knowledge_base(out=tmp_path / "a.kb", sources=[("csv", tmp_path / "a.csv")])
    build_assets(tmp_path / "assets", tmp_path / "a.kb", None)
    return tmp_path / "assets"


def test_the_type_of_a_mention_is_its_section(gold):
    first, *_ = read_gold(gold)
    assert first.doc_id == "n0" and first.text == NOTES["n0"]
    assert [(one.text, one.ids[0], one.type) for one in first.mentions] == [
        ("CP", "128188000", "past_medical_history"),
        ("asthma", "195967001", "past_medical_history"),
        ("CP", "29857009", "chief_complaint"),
    ]


def test_a_memory_learned_from_gold_heeds_sections(run, assets, gold, tmp_path):
    out = tmp_path / "made.csv"
    given = ("evaluate", assets, gold, "--metric", "char-iou", "--output", out, "--overwrite")
    before = run(*given).stdout
    assert "macro 1.0000" not in before  # one of both meanings is wrong
    run("learn", assets, gold, "--output", tmp_path / "learned")
    given = ("evaluate", tmp_path / "learned", *given[2:])
    assert "macro 1.0000, weighted 1.0000 (3 concepts, 18 gold" in run(*given).stdout
    assert read_annotations(out) == read_annotations(gold)
    # What was made is scored as a table, too.
    scored = run("evaluate", out, gold, "--metric", "char-iou").stdout
    assert "macro 1.0000, weighted 1.0000" in scored


def test_tables_of_another_system(gold, tmp_path):
    path = tmp_path / "other.csv"
    path.write_text(dump_annotations(read_annotations(gold)[:2]))
    scores, made = evaluate_characters(str(path), gold)
    assert len(made) == 2
    # The two concepts of the first of six notes have a sixth of their characters.
    assert scores["macro"] == pytest.approx((1 / 6 + 1 / 6 + 0) / 3)
    assert scores["weighted"] == pytest.approx((12 / 6 + 36 / 6) / 60)


def test_notes_that_are_missing(gold, assets):
    notes = gold.with_name("notes.csv")
    notes.write_text(notes.read_text().replace("n3,", "x,"))
    with pytest.raises(MedlinkError, match=r"E401.*note 'n3'"):
        evaluate_characters(str(assets), gold)
    notes.unlink()
    with pytest.raises(MedlinkError, match=r"E401.*note 'n0'"):
        evaluate_characters(str(assets), gold)
