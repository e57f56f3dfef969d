"""A memory of all names."""

import pytest

from spacy_medlink.errors import MedlinkError
from tests.training.objectives.test_memory import CPU, _names, _unit
from training.objectives import name_memory
from training.objectives.name_memory import NameMemory


def test_too_many_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_memory, "_MOST", 1)
    names = _names([0, 0, 1], [1, 2, 3], [True] * 3)
    with pytest.raises(MedlinkError, match=r"E502.*at most 1; there are 3"):
        NameMemory(names, _unit(3, 0).numpy(), CPU)
