"""Small files of every format, of the true shape, which the tests of readers and fuzzing share."""

import json
from pathlib import Path
from uuid import NAMESPACE_OID, uuid5

OBO = """\
format-version: 1.4
data-version: releases/2024-01-01
default-namespace: human_phenotype

[Term]
id: HP:0000118
name: Phenotypic abnormality
is_a: HP:0000001 ! All

[Term]
id: HP:0000819
name: Diabetes mellitus
alt_id: HP:0008217
def: "Too much glucose, \\"sugar\\", in the blood." [HPO:probinson]
synonym: "DM" EXACT abbreviation [ORCID:0000]
synonym: "Sugar diabetes" RELATED layperson []
synonym: "Zuckerkrankheit" EXACT []
xref: UMLS:C0011849 {source="HPO"}
xref: SNOMEDCT_US:73211009
xref: https://en.wikipedia.org/wiki/Diabetes
is_a: HP:0000118 {source="HPO"} ! Phenotypic abnormality

[Term]
id: HP:0000820
name: obsolete Diabetes
is_obsolete: true
replaced_by: HP:0000819

[Typedef]
id: part_of
name: part of
"""

JSONL = "\n".join(
    json.dumps(record, ensure_ascii=False)
    for record in (
        {
            "concept_id": "C0011849",
            "canonical_name": "Diabetes mellitus",
            "aliases": ["DM", "sugar diabetes"],
            "types": ["T047"],
            "definition": "Too much glucose in the blood.",
        },
        {
            "concept_id": "C0020538",
            "names": [
                {"name": "Hypertension", "lang": "en", "source": "HPO", "tty": "PT"},
                {"name": "hipertensión", "lang": "es"},
                "HTN",
                {"name": "Hyperpiesia", "obsolete": True},
            ],
            "codes": {"ICD10CM": ["I10"]},
            "parents": ["C0042373"],
        },
        {"concept_id": "C0000002", "replaced_by": "C0011849"},
        {"concept_id": "C0000003", "replaced_by": ""},
        {"concept_id": "C0042373", "canonical_name": "Vascular disease", "replaced_by": None},
    )
)

_PURL = "http://purl.obolibrary.org/obo/"
_OIO = "http://www.geneontology.org/formats/oboInOwl#"
# What `OBO` says, as OWL says it; the line of an axiom with what is said of a synonym is far away.
OWL = f"""\
<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [
    <!ENTITY obo "{_PURL}">
    <!ENTITY oio "{_OIO}">
]>
<rdf:RDF xmlns="&obo;hp.owl#" xmlns:oio="{_OIO}" xmlns:obo="{_PURL}"
    xmlns:owl="http://www.w3.org/2002/07/owl#" xmlns:hp="{_PURL}hp#"
    xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
  <owl:Ontology rdf:about="&obo;hp.owl">
    <owl:imports rdf:resource="https://example.org/never/fetched.owl"/>
    <owl:versionInfo>2024-01-01</owl:versionInfo>
  </owl:Ontology>
  <owl:Axiom>
    <owl:annotatedSource rdf:resource="&obo;HP_0000819"/>
    <owl:annotatedProperty rdf:resource="&oio;hasExactSynonym"/>
    <owl:annotatedTarget>DM</owl:annotatedTarget>
    <oio:hasSynonymType rdf:resource="&obo;hp#abbreviation"/>
  </owl:Axiom>
  <owl:ObjectProperty rdf:about="&obo;BFO_0000050">
    <rdfs:label>part of</rdfs:label>
  </owl:ObjectProperty>
  <owl:Class rdf:about="&obo;HP_0000118">
    <oio:hasOBONamespace>human_phenotype</oio:hasOBONamespace>
    <rdfs:label>Phenotypic abnormality</rdfs:label>
    <rdfs:subClassOf rdf:resource="&obo;HP_0000001"/>
  </owl:Class>
  <owl:Class rdf:about="&obo;HP_0000819">
    <obo:IAO_0000115>Too much glucose, "sugar", in the blood.</obo:IAO_0000115>
    <oio:hasAlternativeId>HP:0008217</oio:hasAlternativeId>
    <oio:hasDbXref>UMLS:C0011849</oio:hasDbXref>
    <oio:hasDbXref>SNOMEDCT_US:73211009</oio:hasDbXref>
    <oio:hasDbXref>https://en.wikipedia.org/wiki/Diabetes</oio:hasDbXref>
    <oio:hasExactSynonym>DM</oio:hasExactSynonym>
    <oio:hasRelatedSynonym>Sugar diabetes</oio:hasRelatedSynonym>
    <oio:hasExactSynonym>Zuckerkrankheit</oio:hasExactSynonym>
    <oio:hasOBONamespace>human_phenotype</oio:hasOBONamespace>
    <rdfs:label>Diabetes mellitus</rdfs:label>
    <rdfs:subClassOf rdf:resource="&obo;HP_0000118"/>
  </owl:Class>
  <owl:Class rdf:about="&obo;HP_0000820">
    <obo:IAO_0100001 rdf:resource="&obo;HP_0000819"/>
    <rdfs:label>obsolete Diabetes</rdfs:label>
    <owl:deprecated rdf:datatype="http://www.w3.org/2001/XMLSchema#boolean">true</owl:deprecated>
  </owl:Class>
  <owl:Axiom>
    <owl:annotatedSource rdf:resource="&obo;HP_0000819"/>
    <owl:annotatedProperty rdf:resource="&oio;hasRelatedSynonym"/>
    <owl:annotatedTarget>Sugar diabetes</owl:annotatedTarget>
    <oio:hasSynonymType rdf:resource="&obo;hp#layperson"/>
  </owl:Axiom>
</rdf:RDF>
"""

SKOS = """\
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix : <http://example.org/sweet/> .

:sweet a skos:ConceptScheme ; owl:versionInfo "2026" .

:one a skos:Concept ;
    skos:inScheme :sweet ; skos:notation "D" ;
    skos:prefLabel "Krankheit"@de, "Disease"@en-GB ;
    skos:narrower :two .

:two a skos:Concept ;
    skos:inScheme :sweet ; skos:notation "D1" ;
    skos:prefLabel "Sweet disease"@en ;
    skos:altLabel "Zuckersache"@de-AT, "SD" ;
    skos:hiddenLabel "Sweat disease"@en ;
    xl:altLabel [ xl:literalForm "Honey disease"@en ] ;
    skos:definition "Das Blut ist süß."@de, "The blood is sweet."@en ;
    skos:related :three ;
    skos:exactMatch <http://snomed.info/id/73211009> ;
    skos:broadMatch <http://purl.obolibrary.org/obo/MONDO_0000001> ;
    skos:closeMatch <http://dbpedia.org/resource/Heart_disease> .

:three a skos:Concept ; skos:inScheme :sweet ; skos:prefLabel "Foot"@en .

:four a skos:Concept ; skos:prefLabel "Old disease"@en ; dct:isReplacedBy :two .

:five a skos:Concept ; skos:prefLabel "Older disease"@en ; owl:deprecated true .
"""

_W3 = "http://www.w3.org/"
N_TRIPLES = "".join(
    f"<http://example.org/sweet/{subject}> <{predicate}> {object} .\n"
    for subject, predicate, object in (
        ("A", _W3 + "2000/01/rdf-schema#label", '"Fever"@en'),
        ("A", _W3 + "1999/02/22-rdf-syntax-ns#type", f"<{_W3}2002/07/owl#Class>"),
        ("B", _W3 + "1999/02/22-rdf-syntax-ns#type", f"<{_W3}2002/07/owl#Class>"),
        ("A", "http://www.ebi.ac.uk/efo/alternative_term", '"Pyrexia"'),
        ("B", _W3 + "2000/01/rdf-schema#label", '"Symptom"@en'),
        ("A", _W3 + "2000/01/rdf-schema#subClassOf", "<http://example.org/sweet/B>"),
    )
)

TSV = """\
id\tname\tsynonyms\tlang\ttype\tsource\tICD-10-CM
D1\tDiabetes mellitus\tDM|sugar diabetes\ten\tT047|T033\tMINE\tE11|E10
D1\tDiabetes\t\tde\tT047\tMINE\t
H1\t"Blood ""pressure"", high"\tHTN\ten\tT047\tMINE\tI10
"""

CSV = """\
Code;Preferred name;Aliases;Parent
D1;Diabetes mellitus;DM|"sugar" diabetes;E1
H1;"Hypertension; arterial";"HTN
";
"""

BIOSYN = """\
D003920|OMIM:125853||diabetes mellitus
D003920||dm
C0020538||hypertension
D006973+D000001||high blood pressure
"""

FAULTY_CSV = """\
id,name,synonyms,parents
K1,Fever,Pyrexia|Pyrexia,
k2,Cough,,K1
K2,Cold,,K9
K3,"Stray,x
K4,,x,
K5,a,b,c,d
K1,Fever,Pyrexia|Pyrexia,
K6,Gout "x,,K6
K7,A,,K8
K8,B,,k7
"""

GAZETTEER = """\
code\tlanguage\tterm\tsemantic_tag\tmainterm
73211009\tes\tDM\tdisorder\t0
73211009\tes\tdiabetes mellitus\tdisorder\t1
38341003\tes\thipertensión\tdisorder\t1
"""

ICD_ORDER = "\n".join(
    f"{number:05} {code:<7} {flag} {short:<60} {long}"
    for number, (code, flag, short, long) in enumerate(
        [
            ("A00", 0, "Cholera", "Cholera"),
            ("A000", 1, "Cholera due to Vibrio cholerae 01", "Cholera due to Vibrio cholerae 01"),
            ("E11", 0, "Type 2 diabetes mellitus", "Type 2 diabetes mellitus"),
            ("E113", 0, "Type 2 diabetes w ophth", "Type 2 diabetes with eye complications"),
            ("E1136", 1, "Type 2 diabetes w cataract", "Type 2 diabetes with diabetic cataract"),
        ],
        start=1,
    )
)  # fmt: skip
ICD_CODES = "A000    Cholera due to Vibrio cholerae 01\nE1136   Type 2 diabetes with cataract\n"
ICDO_MORPHOLOGY = """\
Code\tStruct\tLabel
8000/0\ttitle\tNeoplasm, benign
8000/0\tsub\tTumor, benign
8000/0\tnote\tSee the introduction
8001/3\ttitle\t"Tumor cells, malignant"
"""
ICDO_TOPOGRAPHY = """\
Kode\tLvl\tTitle
C00\t3\tLip
C00.0\t4\tExternal upper lip
C00.0\tincl\t"Upper lip, NOS"
"""
ICDO_BARE = "8000/0\tNeoplasia benigna\n8000/3\tNeoplasia maligna\n"

FSN, SYNONYM, DEFINITION = "900000000000003001", "900000000000013009", "900000000000550004"
US, GB, ES = "900000000000509007", "900000000000508004", "450828004"
PREFERRED, ACCEPTABLE = "900000000000548007", "900000000000549004"
SAME_AS, POSSIBLY = "900000000000527005", "900000000000523009"
REPLACED_BY, WAS_A = "900000000000526001", "900000000000528000"
ICD_MAP, CTV3_MAP = "447562003", "900000000000497000"
ROOT, DISEASE, DIABETES, TYPE_2 = "138875005", "64572001", "73211009", "44054006"
_CORE, _CASE, _DATE = "900000000000207008", "900000000000448009", "20240101"
_PRIMITIVE, _INFERRED, _SOME = "900000000000074008", "900000000000011006", "900000000000451002"
_REFSET = "id effectiveTime active moduleId refsetId referencedComponentId"
_DESCRIPTION = (
    "id effectiveTime active moduleId conceptId languageCode typeId term caseSignificanceId"
)


def table(header: str, *rows: tuple[str, ...]) -> str:
    return "".join("\t".join(row) + "\r\n" for row in (tuple(header.split(" ")), *rows))


def description(id: int, concept: str, term: str, kind: str, lang: str, active: int = 1) -> str:
    """One row of a description file."""
    return "\t".join(
        [str(id), _DATE, str(active), _CORE, concept, lang, kind, term, _CASE]
    )  # fmt: skip


def refset(refset_id: str, component: str, *values: str, active: int = 1) -> tuple[str, ...]:
    member = str(uuid5(NAMESPACE_OID, repr((refset_id, component, values))))
    return (member, _DATE, str(active), _CORE, refset_id, component, *values)


def _concept(id: str, active: int = 1) -> tuple[str, ...]:
    return (id, _DATE, str(active), _CORE, _PRIMITIVE)


def _is_a(id: int, child: str, parent: str, active: int = 1) -> tuple[str, ...]:
    kind = ("0", "116680003", _INFERRED, _SOME)
    return (str(id), _DATE, str(active), _CORE, child, parent, *kind)


_DESCRIPTIONS = [
    description(100001, ROOT, "SNOMED CT Concept (SNOMED RT+CTV3)", FSN, "en"),
    description(100002, DISEASE, "Disease (disorder)", FSN, "en"),
    description(100003, DISEASE, "Disease", SYNONYM, "en"),
    description(100004, DIABETES, "Diabetes mellitus (disorder)", FSN, "en"),
    description(100005, DIABETES, "DM - Diabetes mellitus", SYNONYM, "en"),
    description(100006, DIABETES, "Diabetes mellitus", SYNONYM, "en"),
    description(100007, DIABETES, "Diabetes mellitus, NOS", SYNONYM, "en", active=0),
    description(100008, TYPE_2, "Diabetes mellitus type 2 (disorder)", FSN, "en"),
    description(100009, TYPE_2, "Type 2 diabetes", SYNONYM, "en"),
    description(100010, "1000001", "Diabetes, old (disorder)", FSN, "en"),
]
_SPANISH = [
    description(200001, DIABETES, "diabetes mellitus (trastorno)", FSN, "es"),
    description(200002, DIABETES, "diabetes", SYNONYM, "es"),
]
_DEFINITIONS = [description(300001, DIABETES, "Too much glucose in the blood.", DEFINITION, "en")]

RF2 = {
    "Terminology/sct2_Concept_Snapshot_INT_20240101.txt": table(
        "id effectiveTime active moduleId definitionStatusId",
        *map(_concept, (ROOT, DISEASE, DIABETES, TYPE_2)),
        _concept("1000001", 0), _concept("1000002", 0), _concept("1000003", 0),
    ),
    "Terminology/sct2_Description_Snapshot-en_INT_20240101.txt": (
        table(_DESCRIPTION) + "".join(row + "\r\n" for row in _DESCRIPTIONS)
    ),
    "Terminology/sct2_Description_SpanishExtensionSnapshot-es_INT_20240101.txt": (
        table(_DESCRIPTION) + "".join(row + "\r\n" for row in _SPANISH)
    ),
    "Terminology/sct2_TextDefinition_Snapshot-en_INT_20240101.txt": (
        table(_DESCRIPTION) + "".join(row + "\r\n" for row in _DEFINITIONS)
    ),
    "Terminology/sct2_Relationship_Snapshot_INT_20240101.txt": table(
        "id effectiveTime active moduleId sourceId destinationId relationshipGroup typeId"
        " characteristicTypeId modifierId",
        _is_a(400001, DISEASE, ROOT), _is_a(400002, DIABETES, DISEASE),
        _is_a(400003, TYPE_2, DIABETES), _is_a(400004, TYPE_2, DISEASE, active=0),
    ),
    "Refset/Language/der2_cRefset_LanguageSnapshot-en_INT_20240101.txt": table(
        f"{_REFSET} acceptabilityId",
        refset(US, "100006", PREFERRED), refset(US, "100005", ACCEPTABLE),
        refset(GB, "100005", PREFERRED), refset(US, "100003", PREFERRED),
    ),
    "Refset/Language/der2_cRefset_LanguageSpanishExtensionSnapshot-es_INT_20240101.txt": table(
        f"{_REFSET} acceptabilityId", refset(ES, "200002", PREFERRED),
    ),
    "Refset/Map/der2_iisssccRefset_ExtendedMapSnapshot_INT_20240101.txt": table(
        f"{_REFSET} mapGroup mapPriority mapRule mapAdvice mapTarget correlationId mapCategoryId",
        refset(ICD_MAP, DIABETES, "1", "2", "OTHERWISE TRUE", "ALWAYS E14.9", "E14.9", "1", "2"),
        refset(ICD_MAP, DIABETES, "1", "1", "IFA 1", "IF ...", "E10.9", "1", "2"),
        refset(ICD_MAP, DISEASE, "1", "1", "TRUE", "CANNOT BE MAPPED", "", "1", "2"),
    ),
    "Refset/Map/der2_sRefset_SimpleMapSnapshot_INT_20240101.txt": table(
        f"{_REFSET} mapTarget", refset(CTV3_MAP, DIABETES, "C10.."),
    ),
    "Refset/Content/der2_cRefset_AssociationSnapshot_INT_20240101.txt": table(
        f"{_REFSET} targetComponentId",
        refset(SAME_AS, "1000001", DIABETES),
        refset(POSSIBLY, "1000002", DIABETES), refset(POSSIBLY, "1000002", TYPE_2),
    ),
}  # fmt: skip


def write_rf2(directory: Path, changes: dict[str, str] | None = None) -> Path:
    """Write the snapshot, some files with another text; "" leaves a file out."""
    for name, text in {**RF2, **(changes or {})}.items():
        if text:
            path = directory / "Snapshot" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf8", newline="")
    return directory


SCISPACY = """[
  {
    "concept_id": "C0011860",
    "aliases": ["Type 2 diabetes", "NIDDM"],
    "types": ["T047"],
    "definition": "A subclass of diabetes.",
    "canonical_name": "Diabetes Mellitus, Non-Insulin-Dependent"
  },
  {"concept_id": "C0015967", "aliases": ["Pyrexia"], "types": ["T184"], "definition": null,
   "canonical_name": "Fever"},
  {"concept_id": "C0004096", "aliases": [], "types": [], "definition": null,
   "canonical_name": "Asthma"}
]
"""

# Invented, with the shape of a download from Athena: tabs, no quotation marks, Unix line ends.
OMOP = {
    "CONCEPT.csv": (
        "concept_id concept_name domain_id vocabulary_id concept_class_id standard_concept"
        " concept_code valid_start_date valid_end_date invalid_reason",
        "0|No matching concept|Metadata|None|Undefined||No matching concept|19700101|20991231|",
        "100|Sweet disease|Condition|SNOMED|Disorder|S|S1|20020131|20991231|",
        "101|Sweet disease of the foot|Condition|SNOMED|Disorder|S|S2|20020131|20991231|",
        '102|Foot, "left"|Spec Anatomic Site|SNOMED|Body Structure|S|S3|20020131|20991231|',
        "200|Sugar illness|Condition|ICD10CM|3-char nonbill code||E1|20020131|20991231|",
        "201|Sugar illness and bad feet|Condition|ICD10CM|5-char billing code||E1.2|20020131"
        "|20991231|",
        "202|Sugar illness, old|Condition|ICD9CM|3-dig nonbill code||250|20020131|20140101|D",
        "203|Unmapped thing|Observation|Local|Local||L1|20020131|20991231|",
        "300|Sweet disease NOS|Condition|SNOMED|Disorder||S9|20020131|20140101|U",
        "301|Withdrawn disease|Condition|SNOMED|Disorder||S8|20020131|20140101|D",
        "400|Oral sugar remover|Drug|RxNorm|Ingredient|S|R1|20020131|20991231|",
    ),
    "CONCEPT_SYNONYM.csv": (
        "concept_id concept_synonym_name language_concept_id",
        "100|Honey disease|4180186", "100|enfermedad dulce|4182511", "100|sokeritauti|40000001",
        "200|Sugar sickness|4180186", "201|Both at once|4180186", "999|Nobody|4180186",
    ),
    "CONCEPT_RELATIONSHIP.csv": (
        "concept_id_1 concept_id_2 relationship_id valid_start_date valid_end_date invalid_reason",
        "100|100|Maps to|20020131|20991231|", "200|100|Maps to|20020131|20991231|",
        "100|200|Mapped from|20020131|20991231|", "201|100|Maps to|20020131|20991231|",
        "201|101|Maps to|20020131|20991231|", "202|100|Maps to|20020131|20991231|",
        "203|301|Maps to|20020131|20991231|", "101|100|Is a|20020131|20991231|",
        "100|101|Subsumes|20020131|20991231|", "100|102|Is a|20020131|20140101|D",
        "101|102|Has finding site|20020131|20991231|", "101|999|Has finding site|20020131"
        "|20991231|",
        "300|100|Concept replaced by|20020131|20991231|",
        "100|300|Concept replaces|20020131|20991231|", "400|100|May treat|20020131|20991231|",
    ),
    "VOCABULARY.csv": (
        "vocabulary_id vocabulary_name vocabulary_reference vocabulary_version"
        " vocabulary_concept_id",
        "ICD10CM|Invented|here|2026|1", "None|OMOP Standardized Vocabularies|here|v5.0 01-JAN-26|2",
    ),
}  # fmt: skip


def omop_text(name: str) -> str:
    """One file of the OMOP vocabulary as it is on disk."""
    header, *rows = OMOP[name]
    lines = "\t".join(header.split()), *(row.replace("|", "\t") for row in rows)
    return "".join(line + "\n" for line in lines)


def write_omop(directory: Path, changes: dict[str, str] | None = None) -> Path:
    """Write the vocabulary, some files with another text; "" leaves a file out."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in {**{name: omop_text(name) for name in OMOP}, **(changes or {})}.items():
        if text:
            (directory / name).write_text(text, encoding="utf8", newline="")
    return directory


_SWEET = "http://example.org/CodeSystem/sweet"
FHIR = {
    "resourceType": "CodeSystem",
    "url": _SWEET,
    "version": "2026",
    "name": "Sweet",
    "status": "active",
    "language": "en-GB",
    "content": "complete",
    "property": [
        {"code": "broader", "uri": "http://hl7.org/fhir/concept-properties#parent", "type": "code"},
        {"code": "site", "type": "code"},
    ],
    "concept": [
        {
            "code": "D",
            "display": "Disease",
            "definition": "What is wrong.",
            "concept": [
                {
                    "code": "D1",
                    "display": "Sweet disease",
                    "designation": [
                        {"language": "de-AT", "value": "Zuckersache"},
                        {"use": {"code": "900000000000003001"}, "value": "Sweet disease (disease)"},
                        {"use": {"code": "abbreviation"}, "value": "SD"},
                    ],
                    "property": [{"code": "site", "valueCode": "F"}],
                }
            ],
        },
        {
            "code": "D2",
            "display": "Sweet foot",
            "property": [
                {"code": "broader", "valueCode": "D1"},
                {"code": "note", "valueString": "text"},
            ],
        },
        {
            "code": "D3",
            "display": "Old disease",
            "property": [{"code": "status", "valueCode": "retired"}],
        },
        {
            "code": "D4",
            "display": "Older disease",
            "property": [{"code": "inactive", "valueBoolean": True}],
        },
        {"code": "D5"},
        {"code": "F", "display": "Foot", "property": [{"code": "child", "valueCode": "F1"}]},
        {"code": "F1", "display": "Toe"},
    ],
}
FHIR_VALUE_SET = {
    "resourceType": "ValueSet",
    "url": "http://example.org/ValueSet/some",
    "compose": {
        "include": [
            {"system": _SWEET, "concept": [{"code": "D1", "display": "Sugary disease"}]},
            {
                "system": "http://snomed.info/sct",
                "concept": [{"code": "S1", "display": "Sweet disorder"}, {"code": "S2"}],
            },
        ]
    },
}
FHIR_TEXT = json.dumps(FHIR, indent=1)
