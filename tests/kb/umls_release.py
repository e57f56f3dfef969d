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


def _tables(directory: str) -> dict[str, list[str]]:
    files = sorted((Path(__file__).parent / "sample_files" / directory).glob("*.RRF"))
    return {path.stem: path.read_text("utf-8").splitlines() for path in files}


TABLES = _tables("umls")  # MRMAP is of a set without a name
# Some rows of invented drugs, in the order of RxNorm's files: by number, not by text.
RXNORM = _tables("rxnorm")


def write_release(directory: Path, tables: Mapping[str, list[str]] | None = None) -> Path:
    """Write tables as RRF files and give the directory back."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, rows in (TABLES if tables is None else tables).items():
        text = "".join(f"{row}\n" for row in rows)
        (directory / f"{name}.RRF").write_bytes(text.encode())
    return directory
