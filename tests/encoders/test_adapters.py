"""Bottleneck adapters: idle at first, saved beside the base, loaded with it."""

from pathlib import Path

import numpy as np
import pytest
import torch

from spacy_medlink.encoders.adapters import adapter_parameters, adapter_reduction, add_adapters
from spacy_medlink.encoders.bi_encoder import ADAPTERS_FILE, BiEncoder
from spacy_medlink.errors import MedlinkError

TEXTS = ["fever", "high blood pressure", ""]


def _adapted(path: Path, reduction: int = 4) -> BiEncoder:
    encoder = BiEncoder.load(path)
    add_adapters(encoder.module, reduction)
    encoder.module.eval()
    return encoder


@pytest.mark.parametrize("reduction", [1, 4, 16])
def test_a_new_adapter_changes_nothing_and_its_size_is_known(
    tiny_encoder: Path, reduction: int
) -> None:
    base, adapted = BiEncoder.load(tiny_encoder), _adapted(tiny_encoder, reduction)
    np.testing.assert_allclose(adapted.encode(TEXTS), base.encode(TEXTS), atol=1e-2)
    assert adapter_reduction(base.module) is None
    assert adapter_reduction(adapted.module) == reduction
    middle = 32 // reduction
    count = sum(parameter.numel() for parameter in adapter_parameters(adapted.module))
    assert count == 2 * 32 * middle + 32 + middle  # one layer of 32 dimensions


def test_adapters_are_saved_beside_a_base_that_stays_as_it_is(
    tiny_encoder: Path, tmp_path: Path
) -> None:
    encoder = _adapted(tiny_encoder)
    with torch.no_grad():
        for parameter in adapter_parameters(encoder.module):
            parameter.normal_(std=0.2)
    encoder.refresh()
    encoder.save(tmp_path)
    loaded = BiEncoder.load(tmp_path)
    assert loaded.fingerprint() == encoder.fingerprint()
    np.testing.assert_allclose(loaded.encode(TEXTS), encoder.encode(TEXTS), atol=1e-5)
    base = BiEncoder.load(tiny_encoder)
    assert np.abs(loaded.encode(TEXTS) - base.encode(TEXTS)).max() > 1e-2
    (tmp_path / "medlink_encoder.json").unlink()  # what other software sees
    other = BiEncoder.load(tmp_path, pooling=base.pooling, max_length=base.max_length)
    assert other.fingerprint() == base.fingerprint()


@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_damaged_adapters_are_an_error(tiny_encoder: Path, tmp_path: Path, damage: str) -> None:
    _adapted(tiny_encoder).save(tmp_path)
    path = tmp_path / ADAPTERS_FILE
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:50])
    else:
        path.unlink()
    with pytest.raises(MedlinkError, match="E206"):
        BiEncoder.load(tmp_path)


def test_a_model_without_such_layers_takes_none() -> None:
    with pytest.raises(MedlinkError, match=r"E216.*Linear"):
        add_adapters(torch.nn.Linear(2, 2), 4)
