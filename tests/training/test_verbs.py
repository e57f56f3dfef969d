"""Every verb of the workflow that runs a network says where."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from training import compare, distil, finetune, ner, pretrain, represent, rerank
from training.papers import reproduce

VERBS = [
    compare.main,
    distil.main,
    finetune.main,
    ner.main,
    pretrain.main,
    rerank.main,
    reproduce.main,
]


@pytest.mark.parametrize("verb", [*VERBS, *represent.VERBS.values()])
def test_it_has_a_device_and_takes_a_gpu_by_default(verb: Callable[..., Any]) -> None:
    assert inspect.signature(verb).parameters["device"].default == "auto"
