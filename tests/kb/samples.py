"""Small files of every format, of the true shape, which the tests of readers and fuzzing share.

They stand in `sample_files`; all but the ids of SNOMED CT and the UMLS are invented.
"""

import json
from pathlib import Path
from uuid import NAMESPACE_OID, uuid5

_FILES = Path(__file__).with_name("sample_files")


def _text(name: str) -> str:
    return (_FILES / name).read_text("utf-8")


def _texts(directory: str, line_end: str = "\n") -> dict[str, str]:
    files = sorted(path for path in (_FILES / directory).rglob("*") if path.is_file())
    return {
        path.relative_to(_FILES / directory).as_posix(): path.read_text("utf-8").replace(
            "\n", line_end
        )
        for path in files
    }


OBO, JSONL, SCISPACY = _text("hp.obo"), _text("kb.jsonl"), _text("scispacy.json")
# OWL says what OBO says; the line of an axiom with what is said of a synonym is far away.
OWL, SKOS, N_TRIPLES = _text("hp.owl"), _text("sweet.ttl"), _text("fever.nt")
SSSOM, ICD11, UNII = map(_text, ("sweet.sssom.tsv", "icd11_es.po", "unii_names.txt"))
TSV, CSV, FAULTY_CSV = _text("names.tsv"), _text("names.csv"), _text("faulty.csv")
BIOSYN, GAZETTEER = _text("dictionary.txt"), _text("gazetteer.tsv")
ICD_ORDER, ICD_CODES = _text("icd10cm_order_2024.txt"), _text("icd10cm_codes_2024.txt")
ICDO_MORPHOLOGY = _text("Morphenglish.txt")
FHIR_TEXT = _text("code_system.json")
FHIR, FHIR_VALUE_SET = json.loads(FHIR_TEXT), json.loads(_text("value_set.json"))
# With the shape of a download from Athena: tabs, no quotation marks, Unix line ends.
OMOP = _texts("omop")
RF2 = _texts("rf2", "\r\n")

FSN, SYNONYM = "900000000000003001", "900000000000013009"
US, GB, ES = "900000000000509007", "900000000000508004", "450828004"
PREFERRED, ACCEPTABLE = "900000000000548007", "900000000000549004"
SAME_AS, POSSIBLY = "900000000000527005", "900000000000523009"
REPLACED_BY, WAS_A = "900000000000526001", "900000000000528000"
ICD_MAP, CTV3_MAP = "447562003", "900000000000497000"
ROOT, DISEASE, DIABETES, TYPE_2 = "138875005", "64572001", "73211009", "44054006"
_CORE, _CASE, _DATE = "900000000000207008", "900000000000448009", "20240101"


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


def write_rf2(directory: Path, changes: dict[str, str] | None = None) -> Path:
    """Write the snapshot, some files with another text; "" leaves a file out."""
    return _write(
        directory, {f"Snapshot/{name}": text for name, text in (RF2 | (changes or {})).items()}
    )


def write_omop(directory: Path, changes: dict[str, str] | None = None) -> Path:
    """Write the vocabulary, some files with another text; "" leaves a file out."""
    return _write(directory, OMOP | (changes or {}))


def _write(directory: Path, texts: dict[str, str]) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        if text:
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf8", newline="")
    return directory
