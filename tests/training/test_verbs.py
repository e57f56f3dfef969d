"""Every verb of the workflow that runs a network says where."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from training import compare, evaluate, ner, train
from training.papers import reproduce

VERBS = [compare.main, evaluate.main, ner.main, reproduce.main, train.main]


@pytest.mark.parametrize("verb", VERBS)
def test_it_has_a_device_and_takes_a_gpu_by_default(verb: Callable[..., Any]) -> None:
    assert inspect.signature(verb).parameters["device"].default == "auto"
