from tests.training.corpora.conftest import Convert

TRAIN = """\
101|t|Gout and breast or ovarian cancer
101|a|A study of gout, of familial gout and of a rash.
101\t0\t4\tGout\tSpecificDisease\tD006073
101\t9\t33\tbreast or ovarian cancer\tCompositeMention\tD001943|D010051
101\t45\t49\tgout\tModifier\tD006073
101\t54\t67\tfamilial gout\tSpecificDisease\tD006073+D030342
101\t77\t81\trash\tDiseaseClass\t-1

102|t|Deafness
102|a|None of it was seen.
102\t0\t8\tDeafness\tSpecificDisease\tOMIM:220290
"""
TEST = "103|t|Asthma\n103|a|Only that.\n103\t0\t6\tAsthma\tSpecificDisease\tD001249\n"
BIOC = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><source>x</source><document><id>101</id>
<passage><infon key="type">title</infon><offset>0</offset><text>Gout &amp; rash</text>
<annotation id="0"><infon key="type">SpecificDisease</infon><infon key="MESH">D006073</infon>
<location offset="0" length="4"/><text>Gout</text></annotation></passage>
<passage><infon key="type">abstract</infon><offset>12</offset><text>Of gout.</text>
<annotation id="1"><infon key="type">Modifier</infon><infon key="MESH">D006073</infon>
<location offset="15" length="4"/><text>gout</text></annotation></passage>
</document></collection>
"""
FILES = {"NCBItrainset_corpus.txt": TRAIN, "NCBItestset_corpus.txt": TEST}


def test_pubtator(converted: Convert) -> None:
    result = converted("ncbi-disease", FILES, strict=True)
    assert [record["doc_id"] for record in result.records] == ["103", "101", "102"]
    assert [record["split"] for record in result.records] == ["test", "train", "train"]
    assert result.brief() == [
        ("Asthma", ["D001249"]),
        ("Gout", ["D006073"]),
        ("breast or ovarian cancer", ["D001943", "D010051"]),
        ("gout", ["D006073"]),
        ("familial gout", ["D006073", "D030342"]),
        ("rash", []),
        ("Deafness", ["OMIM:220290"]),
    ]
    assert [mention.get("composite", False) for mention in result.mentions] == [
        False, False, True, False, True, False, False,
    ]  # fmt: skip
    assert result.mentions[2]["type"] == "CompositeMention"
    assert (result.mentions[3]["start"], result.mentions[3]["end"]) == (45, 49)
    assert (result.tally.mentions, result.tally.nil) == (7, 1)


def test_one_split(converted: Convert) -> None:
    result = converted("ncbi-disease", FILES, "test")
    assert [record["doc_id"] for record in result.records] == ["103"]


def test_bioc(converted: Convert) -> None:
    result = converted("ncbi-disease", {"NCBIdevelopset_corpus.xml": BIOC}, strict=True)
    (record,) = result.records
    assert (record["text"], record["split"]) == ("Gout & rash Of gout.", "dev")
    assert result.brief() == [("Gout", ["D006073"]), ("gout", ["D006073"])]
