"""A Metathesaurus of a few invented concepts, for tests of the reader."""

from collections.abc import Mapping
from pathlib import Path


def atom(cui: str, text: str, **fields: str) -> str:
    """Write a row of MRCONSO; `fields` are columns by name."""
    row = {
        "LAT": "ENG", "TS": "P", "LUI": "L0000001", "STT": "PF", "SUI": "S0000001",
        "ISPREF": "Y", "AUI": "A0000001", "SAUI": "", "SCUI": "", "SDUI": "", "SAB": "MSH",
        "TTY": "MH", "CODE": "NOCODE", "STR": text, "SRL": "0", "SUPPRESS": "N", "CVF": "",
    } | fields  # fmt: skip
    return "|".join([cui, *row.values(), ""])


def relation(cui1: str, rel: str, cui2: str, rela: str = "", suppress: str = "N") -> str:
    """Write a row of MRREL: `cui2` is `rel` of `cui1`."""
    return f"{cui1}|A1|SCUI|{rel}|{cui2}|A2|SCUI|{rela}|R1||SNOMEDCT_US|SNOMEDCT_US|||{suppress}||"


def history(cui: str, rel: str, heir: str = "", mapin: str = "Y") -> str:
    """Write a row of MRCUI."""
    return f"{cui}|2020AA|{rel}|||{heir}|{mapin if heir else ''}|"


def definition(cui: str, sab: str, text: str, suppress: str = "N") -> str:
    """Write a row of MRDEF."""
    return f"{cui}|A1|AT1||{sab}|{text}|{suppress}||"


def semantic_type(cui: str, tui: str) -> str:
    """Write a row of MRSTY."""
    return f"{cui}|{tui}|B2.2|Something|AT1||"


def mapping(mapset: str, code: str, target: str, rel: str = "RO", **fields: str) -> str:
    """Write a row of MRMAP; `fields` are columns by name."""
    row = {
        "MAPSETSAB": "SNOMEDCT_US", "MAPSUBSETID": "1", "MAPRANK": "1", "MAPID": "AT1",
        "MAPSID": "", "FROMID": code, "FROMSID": "", "FROMEXPR": code, "FROMTYPE": "SCUI",
        "FROMRULE": "", "FROMRES": "", "REL": rel, "RELA": "mapped_to", "TOID": target, "TOSID": "",
        "TOEXPR": target, "TOTYPE": "SDUI", "TORULE": "", "TORES": "", "MAPRULE": "TRUE",
        "MAPRES": "", "MAPTYPE": "", "MAPATN": "ACTIVE", "MAPATV": "1", "CVF": "",
    } | fields  # fmt: skip
    return "|".join([mapset, *row.values(), ""])


def source(sab: str, lat: str = "ENG", family: str = "", curver: str = "Y") -> str:
    """Write a row of MRSAB."""
    return (
        f"C1|C2|{sab}_2026|{sab}|Name|{family or sab}|2026|||2026AA||x|y|0|1|1||MH|TH|{lat}|UTF-8"
        f"|{curver}|Y|Short|Citation|"
    )


HYPERTENSION, BLOOD_PRESSURE, DRUG, BRAND = "C0000010", "C0000020", "C0000030", "C0000040"
TABLES: dict[str, list[str]] = {
    "MRCONSO": [
        atom(HYPERTENSION, "High blood pressure", SAB="NCI", TTY="SY", CODE="C3117"),
        atom(HYPERTENSION, "Hypertension", SAB="MSH", CODE="D006973"),
        atom(HYPERTENSION, "Hypertension", SAB="SNOMEDCT_US", TTY="PT", CODE="38341003"),
        atom(HYPERTENSION, "HTN", SAB="SNOMEDCT_US", TTY="OAS", CODE="999", SUPPRESS="O"),
        atom(HYPERTENSION, "Hipertensión", LAT="SPA", SAB="MSHSPA", CODE="D006973"),
        atom(HYPERTENSION, "Hypertension", LAT="GER", SAB="MSHGER", CODE="D006973"),
        atom(BLOOD_PRESSURE, "血圧", LAT="JPN", SAB="MSHJPN", CODE="D001794"),
        atom(BLOOD_PRESSURE, "Blood pressure", SAB="MTH", TTY="PN", CODE="U000001"),
        atom(DRUG, "Propranolol", SAB="RXNORM", TTY="IN", CODE="8787"),
        atom(BRAND, "Inderal", SAB="RXNORM", TTY="BN", CODE="5800"),
        atom(BRAND, "Inderal old", SAB="RXNORM", TTY="OBN", CODE="5801", SUPPRESS="O"),
    ],
    "MRSTY": [
        semantic_type(HYPERTENSION, "T047"),
        semantic_type(BLOOD_PRESSURE, "T033"),
        semantic_type(BLOOD_PRESSURE, "T032"),
    ],
    "MRDEF": [
        definition(HYPERTENSION, "MSHSPA", "Presión arterial alta."),
        definition(HYPERTENSION, "NCI", "Withdrawn.", "O"),
        definition(HYPERTENSION, "MSH", "Persistently high arterial pressure."),
    ],
    "MRREL": [
        relation(HYPERTENSION, "PAR", BLOOD_PRESSURE, "inverse_isa"),
        relation(HYPERTENSION, "PAR", BLOOD_PRESSURE),
        relation(HYPERTENSION, "PAR", DRUG, suppress="O"),
        relation(HYPERTENSION, "SY", HYPERTENSION),
        relation(BLOOD_PRESSURE, "CHD", HYPERTENSION, "isa"),
        relation(DRUG, "RB", BLOOD_PRESSURE, "inverse_isa"),
        relation(DRUG, "RN", BRAND, "tradename_of"),
        relation(BRAND, "RB", DRUG, "has_tradename"),
    ],
    "MRCUI": [
        history("C0000001", "DEL"),
        history("C0000002", "RO", HYPERTENSION),
        history("C0000002", "SY", "C0000001", "N"),
        history("C0000002", "SY", HYPERTENSION),
        history("C0000003", "RB", HYPERTENSION),
    ],
    "MRRANK": [
        "0400|MTH|PN|N|", "0300|MSH|MH|N|", "0200|SNOMEDCT_US|PT|N|", "0100|NCI|SY|N|",
    ],
    "MRSAB": [
        source("MSH"), source("MSHSPA", "SPA", "MSH"), source("MSHGER", "GER", "MSH"),
        source("MSHJPN", "JPN", "MSH"), source("NCI"), source("SNOMEDCT_US", family="SNOMEDCT"),
        source("OLD", curver="N"),
    ],
    "MRMAP": [mapping("C9000001", "38341003", "I10")],  # of a set without a name
}  # fmt: skip


def write_release(directory: Path, tables: Mapping[str, list[str]] | None = None) -> Path:
    """Write tables as RRF files and give the directory back."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, rows in (TABLES if tables is None else tables).items():
        text = "".join(f"{row}\n" for row in rows)
        (directory / f"{name}.RRF").write_bytes(text.encode())
    return directory
