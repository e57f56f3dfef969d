"""Names of other terminologies join the concept that they share most names with."""

from benchmarks.open_names import join


def _other(own: str, *names: str, lang: str = "en") -> dict[str, object]:
    return {"concept_id": own, "names": [{"name": name, "lang": lang} for name in names]}


def test_concepts_are_joined_by_the_names_they_share():
    medic = [
        {
            "concept_id": "D1",
            "canonical_name": "Renal Failure",
            "aliases": ["Kidney Failures"],
        },
        {
            "concept_id": "D2",
            "canonical_name": "Kidney Diseases",
            "aliases": ["nephropathy", "KDX"],
        },
        {"concept_id": "D3", "canonical_name": "Nephropathy", "aliases": []},
    ]
    others = [
        _other("C1", "kidney failure", "renal failure", "kidney diseases", "weak kidneys"),
        _other("C2", "nephropathy", "fever", "KDX"),  # of two, and short
        _other("C3", "Renal Failure", lang="nl"),
        _other("C4", "fever|pyrexia"),
    ]
    assert list(join(medic, others)) == [
        {
            "concept_id": "D1",
            "canonical_name": "Renal Failure",
            "aliases": [
                "Kidney Failures",
                "kidney failure",
                "renal failure",
                "kidney diseases",
                "weak kidneys",
            ],
        },
        medic[1],
        medic[2],
        {"concept_id": "C2", "canonical_name": "nephropathy", "aliases": ["fever", "KDX"]},
    ]
