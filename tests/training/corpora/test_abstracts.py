"""PubTator and BioC: the NCBI disease corpus, and BC5CDR."""

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
NCBI_BIOC = """\
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
NCBI_FILES = {"NCBItrainset_corpus.txt": TRAIN, "NCBItestset_corpus.txt": TEST}
PUBTATOR = """\
201|t|Lithium toxicity
201|a|Renal and hepatic failure after lithium.
201\t0\t7\tLithium\tChemical\tD008094
201\t8\t16\ttoxicity\tDisease\t-1
201\t17\t42\tRenal and hepatic failure\tDisease\tD051437|D017093\tRenal failure|hepatic failure
201\t49\t56\tlithium\tChemical\tD008094
201\tCID\tD008094\tD051437
"""
BIOC = """\
<?xml version='1.0' encoding='UTF-8'?><!DOCTYPE collection SYSTEM 'BioC.dtd'>
<collection><document><id>201</id>
<passage><offset>0</offset><text>Lithium toxicity</text>
<annotation id='0'><infon key="type">Chemical</infon><infon key="MESH">D008094</infon>
<location offset='0' length='7' /><text>Lithium</text></annotation>
<annotation id='1'><infon key="type">Disease</infon><infon key="MESH">-1</infon>
<location offset='8' length='8' /><text>toxicity</text></annotation></passage>
<passage><offset>17</offset><text>Renal and hepatic failure after lithium.</text>
<annotation id='2'><infon key="type">Disease</infon>
<infon key="CompositeRole">CompositeMention</infon><infon key="MESH">D051437|D017093</infon>
<location offset='17' length='25' /><text>Renal and hepatic failure</text></annotation>
<annotation id='3'><infon key="type">Disease</infon>
<infon key="CompositeRole">IndividualMention</infon><infon key="MESH">D051437</infon>
<location offset='17' length='5' /><location offset='35' length='7' />
<text>Renal failure</text></annotation>
<annotation id='4'><infon key="type">Chemical</infon><infon key="MESH">D008094</infon>
<location offset='49' length='7' /><text>lithium</text></annotation></passage>
<relation id='R0'><infon key="relation">CID</infon></relation>
</document></collection>
"""


def test_ncbi_disease(converted: Convert) -> None:
    result = converted("ncbi-disease", NCBI_FILES, strict=True)
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
    result = converted("ncbi-disease", NCBI_FILES, "test")
    assert [record["doc_id"] for record in result.records] == ["103"]


def test_ncbi_disease_as_bioc(converted: Convert) -> None:
    result = converted("ncbi-disease", {"NCBIdevelopset_corpus.xml": NCBI_BIOC}, strict=True)
    (record,) = result.records
    assert (record["text"], record["split"]) == ("Gout & rash Of gout.", "dev")
    assert result.brief() == [("Gout", ["D006073"]), ("gout", ["D006073"])]


def test_bc5cdr(converted: Convert) -> None:
    files = {"CDR.Corpus.v010516/CDR_TrainingSet.PubTator.txt": PUBTATOR}
    result = converted("bc5cdr", files, strict=True)
    assert result.brief() == [
        ("Lithium", ["D008094"]),
        ("toxicity", []),
        ("Renal and hepatic failure", ["D051437", "D017093"]),
        ("lithium", ["D008094"]),
    ]
    composite = result.mentions[2]
    assert composite["composite"] is True
    assert composite["parts"] == ["Renal failure", "hepatic failure"]
    assert result.records[0]["split"] == "train"
    assert result.tally.dropped == {"relations between concepts": 1}


def test_both_formats_say_the_same(converted: Convert) -> None:
    plain = converted("bc5cdr", {"CDR_TestSet.PubTator.txt": PUBTATOR}, file="").records
    name = "CDR_TestSet.BioC.xml"
    xml = converted("bc5cdr", {name: BIOC}, strict=True, file=name)
    for mention in plain[0]["mentions"]:
        mention.pop("parts", None)  # BioC has them as annotations of their own
    assert xml.records == plain
    assert xml.tally.dropped == {"parts of composite mentions, annotated by themselves": 1}


def test_of_two_formats_one_is_read(converted: Convert) -> None:
    files = {"CDR_TestSet.PubTator.txt": PUBTATOR, "CDR_TestSet.BioC.xml": BIOC}
    result = converted("bc5cdr", files, strict=True)
    assert len(result.records) == 1
    assert "parts" in result.mentions[2]


def test_passage_that_begins_inside_another(converted: Convert) -> None:
    broken = BIOC.replace("<offset>17</offset>", "<offset>7</offset>")
    result = converted("bc5cdr", {"CDR_TestSet.BioC.xml": broken})
    assert result.tally.faults["passages whose offset does not fit"] == 1
    # What was in it has lost its place but not its words.
    assert ("lithium", ["D008094"]) in result.brief()
    assert result.records[0]["text"] == "Lithium toxicity"
