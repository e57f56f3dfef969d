"""Codes of the ICD family: how each vocabulary writes them, and of which one a list is."""

import re
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from ..errors import Errors

_ENOUGH = 0.8  # share of a list's codes that must be codes of its edition: others are headings
_MARKS = re.compile(r"\.?-$|[*†‡+!#]+$")  # behind a code of ICD-10: that there are more, its use


class Edition(NamedTuple):
    """A way to write codes.

    vocabulary (str): of the codes. pattern (Pattern): a code, the dot not needed.
    dot (int): characters before the dot, 0 for none; codes beginning with E have one more in ICD-9.
    """

    vocabulary: str
    pattern: re.Pattern[str]
    dot: int = 0

    def has(self, code: str) -> bool:
        """Tell whether a code, or both ends of a range, are of this edition."""
        parts = _MARKS.sub("", code).split("-")
        return all(self.pattern.fullmatch(part) is not None for part in parts if part)

    def dotted(self, code: str) -> str:
        """Put the dot back where a code lacks it, and take marks off it."""
        if self.vocabulary.startswith("ICD10"):
            code = _MARKS.sub("", code)
        cut = self.dot + (self.vocabulary == "ICD9CM" and code.startswith("E"))
        if not self.dot or len(code) <= cut or not self.pattern.fullmatch(code) or "." in code:
            return code
        return f"{code[:cut]}.{code[cut:]}"


def _edition(vocabulary: str, pattern: str, dot: int = 0) -> Edition:
    return Edition(vocabulary, re.compile(pattern), dot)


_AXIS = "[0-9A-HJ-NP-Z]"
# Only some chapters of ICD-10-CM have codes of seven characters. Those of the ATC look alike.
_ICD10 = r"[A-Z]\d[0-9AB](?:\.?[0-9A-Z]{1,3})?|[EHMOR-Y]\d[0-9AB]\.?(?![A-WYZ]{2})[0-9A-Z]{4}"
ICD10 = _edition("ICD10", _ICD10, 3)
_ICD10CM = ICD10._replace(vocabulary="ICD10CM")
_ICD10PCS = _edition(
    "ICD10PCS",
    rf"(?:[0-9BCDFX]{_AXIS}|[GH]Z){_AXIS}(?:{_AXIS}{{4}})?",  # or the table, of three
)
_ICD9CM = _edition(
    "ICD9CM", r"\d{3}(?:\.?\d\d?)?|V\d\d(?:\.?\d\d?)?|E(?:0[0-3]|[89]\d)\d(?:\.?\d)?", 3
)
_ICD9PROC = _edition("ICD9PROC", r"\d\d(?:\.?\d\d?)?", 2)
_STEM = (
    r"(?:(?:[0-9][A-H]|A[A-C]|[B-NP-SV][A-M])\d[0-9A-Z](?:\.[0-9A-Z]{1,2})?|X[A-Z][0-9A-Z]{2,4})"
)
ICD11 = _edition("ICD11", rf"{_STEM}(?:[&/]{_STEM})*")  # with what is clustered
ICDO3 = _edition("ICDO3", r"M?\d{4}/\d\d?|C\d\d(?:\.\d)?")
_MORPHOLOGY = _edition("ICDO3", r"M?\d{4}/\d\d?")
_OPCS4 = _edition("OPCS4", r"[A-Z]\d\d(?:\.?\d)?", 3)
_ICPC2 = _edition("ICPC2", r"[ABDFHKLNPR-UW-Z]\d\d")
_HCPCS = _edition("HCPCS", r"[A-V]\d{4}|\d{4}[\dFTU]")  # those of CPT among them
# What the files of CMS, and tables, may have.
ORDERED = (_ICD10CM, _ICD10PCS)
LISTED = (*ORDERED, _ICD9CM, _ICD9PROC, _ICPC2, _HCPCS)
TABLED = (ICD10, _ICD10PCS, _ICD9CM, _ICD9PROC, ICD11, _MORPHOLOGY, _ICPC2, _HCPCS)
_ANSWERS = "ICD10CM, ICD10PCS, ICD10, ICD9CM, ICD9PROC (procedures), ICD11, ICDO3, ICPC2"
# What a file or a vocabulary is called.
_CALLED = {
    r"ICD-?10-?PCS|CIE-?10-?PCS": _ICD10PCS, r"ICD-?10-?CM": _ICD10CM, r"ICD-?O": ICDO3,
    r"ICD-?11": ICD11, r"ICD-?10-?GM": ICD10._replace(vocabulary="ICD10GM"),
    r"DESC-(?:LONG|SHORT)-SG|ICD-?9.*(?:PROC|PRCDR|-SG)": _ICD9PROC,
    r"DESC-(?:LONG|SHORT)-DX|(?:ICD|CIE|CIM|CID)-?9": _ICD9CM,
    r"(?:ICD|CIE|CIM|CID)-?10": ICD10, r"ICPC-?2|ICPC(?!-?\d)": _ICPC2,
    r"OPCS": _OPCS4, r"HCPCS": _HCPCS, r"\bCPT\b": _HCPCS._replace(vocabulary="CPT"),
}  # fmt: skip


def edition_of(
    path: Path, codes: Collection[str], editions: Collection[Edition], vocabulary: str = ""
) -> Edition:
    """Find the edition of a list: by the vocabulary, else by its name if that fits, else by codes.

    path (Path): the list. codes (Collection[str]): its codes. editions (Collection[Edition]): the
        editions that its layout can have. vocabulary (str): what the codes are of; codes of an
        unknown one have no dots.
    RAISES (MedlinkError): E132 where several editions fit, or none.
    """
    if vocabulary:
        edition = called(vocabulary) or _edition(vocabulary, "(?!)")
        return edition._replace(vocabulary=vocabulary)
    by_name = called(path.name)
    if by_name is not None and _share(by_name, codes) >= _ENOUGH:
        return by_name
    shares = {edition: _share(edition, codes) for edition in editions}
    best = max(shares.values())
    fitting = [edition for edition, share in shares.items() if share == best >= _ENOUGH]
    if len(fitting) != 1:
        likely = ", ".join(edition.vocabulary for edition in fitting) or "none that is known"
        examples = ", ".join(sorted(codes, key=len)[-3:])
        what = f"of which vocabulary its codes are (likely: {likely})"
        remedy = f"`--vocabulary`: {_ANSWERS}, or another one, whose codes stay as they are"
        raise Errors.unclear_source(path=path, what=what, value=examples, remedy=remedy)
    return fitting[0]


def dotted(vocabulary: str, code: str) -> str:
    """Write a code of a vocabulary of this family with its dot; others stay as they are."""
    edition = called(vocabulary)
    return edition.dotted(code) if edition else code


def called(name: str) -> Edition | None:
    """Find the edition that a name means, such as "ICD-10-GM 2026"."""
    plain = re.sub(r"[\W_]+", "-", name.upper())
    return next(
        (edition for pattern, edition in _CALLED.items() if re.search(pattern, plain)), None
    )


def _share(edition: Edition, codes: Collection[str]) -> float:
    return sum(map(edition.has, codes)) / max(len(codes), 1)
