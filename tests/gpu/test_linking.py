"""Assets, components, builds and annotation on every device: the same links."""

import json
import pickle

import numpy as np
import pytest
import spacy
import torch
from spacy.training import Example

from spacy_medlink.annotate.run import annotate_file
from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.assets.learn import learn
from spacy_medlink.components.pipelines import linker_of, open_pipeline
from spacy_medlink.types import Mention
from tests.complete_assets import write_complete_assets
from tests.devices import DEVICES
from tests.lines import note, write_lines
from tests.pipelines import TEXTS, architecture, pipeline

MENTIONS = [Mention(text) for text in ("heart attack", "fever", "HTN", "Type 2 diabetes", "asma")]
TEXT = "He had a heart attack and fever."


def ids(assets: Assets) -> list[int]:
    return [own[0].row for own in assets.engine().rank(MENTIONS, 3)]


def as_spacy_on(device: str) -> None:
    """Let spaCy compute on a device."""
    if device == "cpu":
        spacy.require_cpu()
        return
    pytest.importorskip("cupy")
    spacy.require_gpu()


@pytest.mark.parametrize("device", DEVICES)
def test_assets_open_their_networks_on_a_device(tiny_assets, device):
    assets = Assets(tiny_assets.path, device=device)
    assert assets.encoder.device.type == device
    assert assets.dense.place.startswith(device)
    assert ids(assets) == ids(tiny_assets)
    assert pickle.loads(pickle.dumps(assets)).encoder.device.type == device


@pytest.mark.parametrize("device", DEVICES)
def test_assets_move(tiny_assets, device):
    assets = Assets(tiny_assets.path)
    before = assets.encoder
    assert assets.move(device).encoder.device.type == device
    assert (assets.encoder is before) == (device == "cpu")
    assert assets.reload().device == device


@pytest.mark.parametrize("device", DEVICES)
def test_a_reranker_opens_on_the_device(tmp_path, tiny_kb, tiny_encoder, device):
    plain = write_complete_assets(tmp_path / "assets", tiny_kb.path, tiny_encoder)
    assets = Assets(plain.path, device=device)
    assert assets.reranker is not None
    assert assets.reranker.base.device.type == device
    ranking, expected = (one.engine().rank([Mention("PE")], 3)[0] for one in (assets, plain))
    assert "rerank" in ranking[0].scores
    assert {one.row for one in ranking} == {one.row for one in expected}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("index", ["Flat", "HNSW8"])
def test_a_build_gives_the_same_links(
    tmp_path, tiny_kb, tiny_encoder, tiny_assets,
    device, index,
):  # fmt: skip
    out = tmp_path / "assets"
    made = build_assets(out, tiny_kb.path, tiny_encoder, index=index, device=device)
    assert made.manifest["encoder"]["device"].startswith(device)
    assert made.device == device
    own, other = (one.dense.vectors(np.arange(tiny_kb.n_names)) for one in (made, tiny_assets))
    assert ((own * other).sum(axis=1) > 0.99).all()
    assert ids(made) == ids(tiny_assets)


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_learned_stays_on_the_device(tmp_path, tiny_assets, device):
    line = note("bad flu", ("bad flu", "HP:0001945"), doc_id="1", lang="en")
    gold = write_lines(tmp_path / "gold.jsonl", line)
    done = learn(Assets(tiny_assets.path, device=device), tmp_path / "out", gold).assets
    assert done.device == device
    (ranking,) = done.engine().rank([Mention("bad flu")], 1)
    assert done.kb.brief_at(ranking[0].row)[0] == "HP:0001945"


@pytest.mark.parametrize("device", DEVICES)
def test_a_component_computes_where_it_is_told(tiny_assets, device):
    nlp = open_pipeline(str(tiny_assets.path), device=device)
    linker = linker_of(nlp)
    docs = list(nlp.pipe(TEXTS))
    assert linker.engine.parts.encoder.device.type == device
    expected = list(open_pipeline(str(tiny_assets.path)).pipe(TEXTS))
    for doc, other in zip(docs, expected, strict=True):
        assert [one.text for one in doc.ents] == [one.text for one in other.ents]
    assert [one.kb_id_ for one in nlp(TEXT).ents] == ["HP:0001658", "HP:0001945"]


@pytest.mark.parametrize("device", DEVICES)
def test_a_component_follows_spacy(tiny_assets, device):
    as_spacy_on(device)
    nlp = open_pipeline(str(tiny_assets.path))
    linker = linker_of(nlp)
    assert linker.device.startswith(device)
    assert [one.kb_id_ for one in nlp(TEXT).ents] == ["HP:0001658", "HP:0001945"]
    assert linker.engine.parts.encoder.device.type == device


@pytest.mark.parametrize("device", DEVICES)
def test_the_spacy_loop_trains_on_the_device(tiny_assets, tiny_encoder, device):
    as_spacy_on(device)
    own = {"model": architecture(tiny_encoder), "tiers": ["dense"], "calibrator": False}
    nlp = pipeline(tiny_assets, mentions=False, **own)
    linker = nlp.get_pipe("medical_linker")
    optimizer = nlp.initialize()
    doc = nlp.make_doc(TEXT)
    gold = nlp.make_doc(TEXT)
    gold.set_ents([gold.char_span(9, 21, label="D", kb_id="HP:0001658")])
    before = linker.opened.encoder().fingerprint()
    losses: dict[str, float] = {}
    nlp.update([Example(doc, gold)], sgd=optimizer, losses=losses)
    assert np.isfinite(losses["medical_linker"])
    assert linker.opened.encoder().device.type == device
    assert linker.opened.encoder().fingerprint() != before
    assert linker.rebuild_index()
    assert linker.engine.parts.encoder.device.type == device


@pytest.mark.parametrize("device", DEVICES)
def test_many_documents(tiny_assets, tmp_path, device):
    notes = tmp_path / "notes.jsonl"
    lines = [json.dumps({"doc_id": str(n), "text": f"{n}. {TEXT}"}) for n in range(20)]
    notes.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = annotate_file(
        str(tiny_assets.path), notes, tmp_path / "links.jsonl", part_size=7, device=device
    )
    assert (done.linked, done.mentions, done.links) == (20, 40, 40)


@pytest.mark.gpu
def test_the_flat_search_of_assets_is_on_the_gpu(tiny_assets):
    index = Assets(tiny_assets.path, device="cuda").dense
    assert index.place.startswith("cuda")
    queries = tiny_assets.dense.vectors(np.arange(20))
    expected = tiny_assets.dense.search(queries, 5)
    np.testing.assert_array_equal(index.search(queries, 5).rows[:, 0], expected.rows[:, 0])
    assert torch.cuda.memory_allocated() > 0
