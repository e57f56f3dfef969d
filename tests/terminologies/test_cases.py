"""What the readers make of texts: `cases/FORMAT.txt`, as `tests.kb.cases` describes them."""

from pathlib import Path

import pytest

from tests.kb.cases import Case, cases, check


@pytest.mark.parametrize("case", cases(Path(__file__).with_name("cases")))
def test_cases(tmp_path: Path, case: Case) -> None:
    check(case, tmp_path)
