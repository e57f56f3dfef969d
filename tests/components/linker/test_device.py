"""Where the networks of a component compute: where spaCy does, or where it is told."""

import pickle
from pathlib import Path

import pytest
import spacy
import torch
from thinc.api import NumpyOps

from spacy_medlink.assets import Assets
from spacy_medlink.components.pipelines import linker_of, open_pipeline
from spacy_medlink.errors import MedlinkError
from spacy_medlink.util import devices
from tests.pipelines import architecture

# Stands for a GPU: what is left on the processor cannot compute with what is there.
META = torch.device("meta")


@pytest.fixture
def on_meta(monkeypatch):
    """Let spaCy compute on the meta device."""
    monkeypatch.setattr(devices, "spacy_device", lambda: "meta")


def config(assets: Assets, encoder: Path) -> dict[str, object]:
    return {"assets": str(assets.path), "model": architecture(encoder)}


def test_without_more_it_is_the_processor(tiny_assets):
    linker = linker_of(open_pipeline(str(tiny_assets.path)))
    assert linker.device == "cpu"
    assert linker.engine.parts.encoder.device == devices.CPU


def test_the_networks_of_the_assets_follow_spacy(tiny_assets, on_meta):
    nlp = open_pipeline(str(tiny_assets.path))
    assert linker_of(nlp).assets.device == "meta"
    assert linker_of(nlp).engine.parts.encoder.device == META


@pytest.mark.filterwarnings("ignore:for (weight|bias).*meta parameter")
def test_the_networks_of_the_config_follow_spacy(tiny_assets, tiny_encoder, on_meta):
    nlp = spacy.blank("en")
    linker = nlp.add_pipe("medical_linker", config=config(tiny_assets, tiny_encoder))
    assert linker.opened.encoder().device == linker.opened.encoder().special.device == META


def test_where_spacy_computes_is_asked_when_the_component_is_made(tiny_assets, monkeypatch):
    """spaCy keeps it for each thread; a service links in others."""
    monkeypatch.setattr(devices, "spacy_device", lambda: "meta")
    nlp = open_pipeline(str(tiny_assets.path))
    monkeypatch.setattr(devices, "spacy_device", lambda: "cpu")
    assert linker_of(nlp).assets.encoder.device == META


def test_it_computes_where_it_is_told(tiny_assets, tiny_encoder):
    nlp = spacy.blank("en")
    linker = nlp.add_pipe("medical_linker", config=config(tiny_assets, tiny_encoder))
    assert linker.engine.parts.encoder.device == devices.CPU
    linker.use_device("meta")
    assert linker.device == "meta"
    assert linker.opened.encoder().device == META
    assert linker.assets.encoder.device == META
    assert linker.opened._opened.engine is None, "it would encode where it was"
    with pytest.raises(MedlinkError, match="E508"):
        linker.use_device("cuda:99")
    assert linker.device == "meta"


def test_a_pipeline_is_opened_on_a_device(tiny_assets, tmp_path):
    open_pipeline(str(tiny_assets.path)).to_disk(tmp_path / "saved")
    for source in (tiny_assets.path, tmp_path / "saved"):
        linker = linker_of(open_pipeline(str(source), device="meta"))
        assert linker.assets.encoder.device == META
    with pytest.raises(MedlinkError, match="E508"):
        open_pipeline(str(tiny_assets.path), device="abacus")


def test_what_is_unpickled_follows_spacy_where_it_is(tiny_assets, on_meta, monkeypatch):
    """A machine without a GPU takes a pipeline from one that has some."""
    nlp = open_pipeline(str(tiny_assets.path))
    assert linker_of(nlp).assets.device == "meta"
    data = pickle.dumps(nlp)
    monkeypatch.setattr(devices, "spacy_device", lambda: "cpu")
    again = pickle.loads(data)
    assert linker_of(again).device == linker_of(again).assets.device == "cpu"
    assert [one.kb_id_ for one in again("He has fever.").ents] == ["HP:0001945"]


def test_a_model_that_thinc_moves_takes_the_whole_encoder_along(tiny_encoder, on_meta):
    from spacy_medlink.encoders.architectures import encoder_of, transformer_bi_encoder

    model = transformer_bi_encoder(str(tiny_encoder))
    assert encoder_of(model).device == META
    model.shims[0].encoder = None
    model._to_ops(NumpyOps())
    assert encoder_of(model).device == encoder_of(model).special.device == devices.CPU


def test_what_is_saved_on_a_device_is_read_on_another(tiny_encoder):
    from spacy_medlink.encoders.architectures import encoder_of, transformer_bi_encoder

    model = transformer_bi_encoder(str(tiny_encoder))
    expected = encoder_of(model).fingerprint()
    again = model.copy()
    again.shims[0].place(META)
    again.shims[0].from_bytes(model.shims[0].to_bytes())
    assert encoder_of(again).device == META
    assert encoder_of(model.copy()).fingerprint() == expected
