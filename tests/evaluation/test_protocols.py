import pytest

from spacy_medlink.evaluation.protocols import split_composite


@pytest.mark.parametrize(
    ("text", "n_ids", "parts"),
    [
        ("breast and ovarian cancer", 2, ["breast cancer", "ovarian cancer"]),
        ("breast or ovarian cancer", 2, ["breast cancer", "ovarian cancer"]),
        ("brain, breast, and prostate cancer", 3,
         ["brain cancer", "breast cancer", "prostate cancer"]),
        ("cancer of the breast and ovary", 2, ["cancer of the breast", "cancer of the ovary"]),
        ("C6 and C7 deficiencies", 2, ["C6 deficiencies", "C7 deficiencies"]),
        ("type 1 and type 2 diabetes", 2, ["type 1 diabetes", "type 2 diabetes"]),
        ("renal/hepatic failure", 2, ["renal failure", "hepatic failure"]),
        ("cáncer de mama y ovario", 2, ["cáncer de mama", "cáncer de ovario"]),
        ("renal hamartomas", 2, ["renal", "hamartomas"]),
        # As many parts as ids, or none.
        ("breast and ovarian cancer", 3, ["breast and ovarian cancer"]),
        ("breast and ovarian cancer", 1, ["breast and ovarian cancer"]),
        ("haemorrhagic cystitis of old age", 2, ["haemorrhagic cystitis of old age"]),
        ("", 2, [""]),
    ],
)  # fmt: skip
def test_split_composite(text: str, n_ids: int, parts: list[str]) -> None:
    assert split_composite(text, n_ids) == parts
