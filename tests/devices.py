"""The devices that a test runs on: the processor everywhere, and a GPU where there is one."""

import pytest

CUDA = pytest.param("cuda", marks=pytest.mark.gpu)
DEVICES = ["cpu", CUDA]
