"""Bottleneck adapters: idle at first, saved beside the base, loaded with it."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from transformers import BertConfig, BertModel

from spacy_medlink.encoders.adapters import adapter_parameters, adapter_reduction, add_adapters
from spacy_medlink.encoders.bi_encoder import ADAPTERS_FILE, BiEncoder
from spacy_medlink.errors import MedlinkError
from tests.tables import table

TEXTS = ["fever", "high blood pressure", ""]


def _adapted(path: Path, reduction: int = 4, invertible: bool = False) -> BiEncoder:
    encoder = BiEncoder.load(path)
    add_adapters(encoder.module, reduction, invertible)
    encoder.module.eval()
    return encoder


@pytest.mark.parametrize(("reduction", "invertible"), [(1, False), (4, True), (16, False)])
def test_a_new_adapter_changes_nothing_and_its_size_is_known(tiny_encoder, reduction, invertible):
    base, adapted = BiEncoder.load(tiny_encoder), _adapted(tiny_encoder, reduction, invertible)
    np.testing.assert_allclose(adapted.encode(TEXTS), base.encode(TEXTS), atol=1e-2)
    assert adapter_reduction(base.module) is None
    assert adapter_reduction(adapted.module) == reduction
    middle = 32 // reduction
    count = sum(parameter.numel() for parameter in adapter_parameters(adapted.module))
    bottleneck, half = 2 * 32 * middle + 32 + middle, 2 * 16 * 8 + 16 + 8
    assert count == bottleneck + 2 * half * invertible  # one layer of 32 dimensions


@table(__file__, "the_weights_that_sapbert_trains")
def test_the_weights_that_sapbert_trains(reduction, invertible, count, share):
    """SapBERT, section 3.2 and table 7: 13.22 % and 1.09 % of BERT base."""
    with torch.device("meta"):
        module = BertModel(BertConfig())
        whole = sum(parameter.numel() for parameter in module.parameters())
        add_adapters(module, reduction, invertible)
    trained = sum(parameter.numel() for parameter in adapter_parameters(module))
    assert (trained, f"{100 * trained / whole:.2f}") == (count, share)


def test_the_adapter_at_the_embeddings_can_be_inverted_and_learns(tiny_encoder):
    encoder = _adapted(tiny_encoder, invertible=True)
    coupling = encoder.module.embeddings.adapter
    seen: list[torch.Tensor] = []
    coupling.register_forward_hook(lambda own, given, output: seen.extend([*given, output]))
    with torch.no_grad():
        for parameter in coupling.parameters():
            parameter.normal_(std=0.2)
    encoder.forward(encoder.tokenize(TEXTS))[:, 0].sum().backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in coupling.parameters())
    before, after = seen
    one, two = after.chunk(2, dim=-1)
    two = two - coupling.second(one)
    one = one - coupling.first(two)
    assert (after - before).abs().max() > 0.1
    torch.testing.assert_close(torch.cat([one, two], dim=-1), before)


@pytest.mark.parametrize("invertible", [False, True])
def test_adapters_are_saved_beside_a_base_that_stays_as_it_is(tiny_encoder, tmp_path, invertible):
    encoder = _adapted(tiny_encoder, invertible=invertible)
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


def test_a_model_without_such_layers_takes_none():
    with pytest.raises(MedlinkError, match=r"E216.*Linear"):
        add_adapters(torch.nn.Linear(2, 2), 4)


def test_adapters_of_fewer_layers_are_an_error(tiny_encoder, tmp_path):
    _adapted(tiny_encoder).save(tmp_path)
    save_file({}, tmp_path / ADAPTERS_FILE)
    with pytest.raises(MedlinkError, match="E206"):
        BiEncoder.load(tmp_path)
