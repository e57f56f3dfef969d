"""What many of these tests begin with: assets of the names or records that their module lists."""

import pytest

from tests.tiny import assets_of, concepts_of


@pytest.fixture(scope="module")
def assets(request, tmp_path_factory):
    """Assets of RECORDS of the module, or else of its NAMES; do not write into them."""
    own = vars(request.module)
    records = own["RECORDS"] if "RECORDS" in own else concepts_of(own["NAMES"])
    return assets_of(tmp_path_factory.mktemp("assets"), records)
