"""A linker on the pipeline's own transformer, on every device."""

import pickle

import pytest
import spacy
from thinc.api import Adam

from tests.devices import DEVICES
from tests.tiny import TINY_RECORDS, assets_of

pytest.importorskip("spacy_transformers")

from tests.components.shared.conftest import gold as gold  # a fixture
from tests.components.shared.pipelines import examples_of, linker_of, links_of, made, texts_of


@pytest.mark.parametrize("device", DEVICES)
def test_training_and_linking_on_every_device(tmp_path, tiny_encoder, gold, device):
    if device == "cuda":
        pytest.importorskip("cupy")
        spacy.require_gpu()
    nlp = made(tiny_encoder, assets_of(tmp_path, TINY_RECORDS))
    assert linker_of(nlp).engine.parts.encoder.device.type == device
    examples, sgd = examples_of(nlp, gold), Adam(0.003)
    losses = [nlp.update(examples, sgd=sgd)["medical_linker"] for _ in range(15)]
    assert losses[-1] < 0.7 * losses[0]
    links = links_of(nlp.pipe(texts_of()))
    assert links_of(pickle.loads(pickle.dumps(nlp)).pipe(texts_of())) == links
