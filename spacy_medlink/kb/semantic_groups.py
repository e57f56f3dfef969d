"""The semantic groups of the UMLS: which semantic types (TUIs) each of the 15 groups holds."""

from collections.abc import Iterable

from ..errors import Errors

# After McCray, Burgun and Bodenreider (2001), as of 2018, with types that older releases still use.
GROUPS = {
    "ACTI": "T051 T052 T053 T054 T055 T056 T057 T064 T066",
    "ANAT": "T017 T018 T021 T022 T023 T024 T025 T026 T029 T030 T031",
    "CHEM": (
        "T103 T104 T109 T110 T111 T114 T115 T116 T118 T119 T120 T121 T122 T123 T124 T125 T126 T127"
        " T129 T130 T131 T192 T195 T196 T197 T200"
    ),
    "CONC": "T077 T078 T079 T080 T081 T082 T089 T102 T169 T170 T171 T185",
    "DEVI": "T074 T075 T203",
    "DISO": "T019 T020 T033 T037 T046 T047 T048 T049 T050 T184 T190 T191",
    "GENE": "T028 T085 T086 T087 T088",
    "GEOG": "T083",
    "LIVB": (
        "T001 T002 T003 T004 T005 T006 T007 T008 T009 T010 T011 T012 T013 T014 T015 T016 T096 T097"
        " T098 T099 T100 T101 T194 T204"
    ),
    "OBJC": "T071 T072 T073 T167 T168",
    "OCCU": "T090 T091",
    "ORGA": "T092 T093 T094 T095",
    "PHEN": "T034 T038 T067 T068 T069 T070",
    "PHYS": "T032 T039 T040 T041 T042 T043 T044 T045 T201",
    "PROC": "T058 T059 T060 T061 T062 T063 T065",
}


def types_of(groups: Iterable[str]) -> frozenset[str]:
    """List the semantic types of groups, such as "DISO" (disorders).

    RAISES (MedlinkError): E213 for a group that the UMLS does not have.
    """
    selected: set[str] = set()
    for group in groups:
        if group.upper() not in GROUPS:
            names = ", ".join(GROUPS)
            raise Errors.unknown_in_filter(what="semantic group", value=group, near=names)
        selected.update(GROUPS[group.upper()].split())
    return frozenset(selected)


def groups_of(types: Iterable[str]) -> tuple[str, ...]:
    """List the groups that semantic types belong to, in alphabetical order."""
    wanted = set(types)
    return tuple(
        group for group, members in GROUPS.items() if not wanted.isdisjoint(members.split())
    )
