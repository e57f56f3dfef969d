"""The formats of terminologies: each has a reader, and no other name has one."""

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import FORMATS, get_reader


@pytest.mark.parametrize("name", FORMATS)
def test_each_has_a_reader(name):
    assert callable(get_reader(name))


def test_another_one_is_refused():
    with pytest.raises(MedlinkError, match="E108") as caught:
        get_reader("abacus")
    assert "'abacus'" in str(caught.value) and "umls" in str(caught.value)
