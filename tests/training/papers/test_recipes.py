"""The papers' recipes train to their end on toy data, and ship what the last step made."""

import pytest
from transformers import AlbertConfig, AlbertModel, BertModel, DistilBertConfig, DistilBertModel

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import MedlinkError
from spacy_medlink.util.devices import CPU
from training.kinds.pretraining import Pretraining
from training.loop.modules import prepare
from training.papers.published import LAYOUTS
from training.recipe.reading import read_recipe
from training.recipe.settings import EncoderSettings

CONFIGS = LAYOUTS.parent / "configs"
OF_NAMES = sorted(
    path.stem
    for path in CONFIGS.glob("*.cfg")
    # tests/training/test_finetune.py
    if not path.stem.startswith(("finetune", "rerank", "published"))
)


@pytest.mark.parametrize("name", OF_NAMES)
def test_a_recipe_of_names_trains_to_its_end(name, tiny_kb, tiny_encoder, tmp_path):
    changes = {"holdout.fraction": 0.5, "data.languages": [], "training.precision": "fp32"}
    if name == "coder":
        changes["training.names"] = 64
    recipe = read_recipe(CONFIGS / f"{name}.cfg", changes)
    bitext = None
    if recipe.bitext.order == "alone":
        bitext = tmp_path / "words.tsv"
        bitext.write_text("Herz\theart\nLunge\tlung\n", encoding="utf-8")
    made = Pretraining(recipe, tiny_kb, BiEncoder.load(tiny_encoder), bitext=bitext)
    result = made.run(tmp_path / "run")
    assert result is not None
    assert result.figures["trained_part"] == 1.0
    assert result.figures["training"]["stopped_by"] == ("names" if name == "coder" else "epochs")


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.cfg")), ids=lambda path: path.stem)
def test_a_paper_chooses_nothing(path):
    if path.stem != "published":
        assert not read_recipe(path).chooses
    ours = CONFIGS.parents[1] / "configs" / "finetune.cfg"
    assert read_recipe(ours).chooses


def test_frozen_layers_are_the_first_ones_and_the_embeddings(tiny_encoder):
    encoder = BiEncoder.load(tiny_encoder)
    encoder.module.config.num_hidden_layers = 3
    encoder.module = BertModel(encoder.module.config)
    module = prepare(encoder, EncoderSettings(freeze_layers=2), CPU).module
    learning = {name for name, weight in module.named_parameters() if weight.requires_grad}
    assert learning and all(name.startswith("encoder.layer.2.") for name in learning)


def test_layers_of_a_distilbert_are_frozen_too(tiny_encoder):
    encoder = BiEncoder.load(tiny_encoder)
    encoder.module = DistilBertModel(
        DistilBertConfig(vocab_size=100, dim=32, n_heads=2, hidden_dim=64, n_layers=3)
    )
    module = prepare(encoder, EncoderSettings(freeze_layers=2), CPU).module
    learning = {name for name, weight in module.named_parameters() if weight.requires_grad}
    assert learning and all(name.startswith("transformer.layer.2.") for name in learning)


def test_a_base_without_a_list_of_layers_cannot_be_frozen(tiny_encoder):
    encoder = BiEncoder.load(tiny_encoder)
    encoder.module = AlbertModel(  # its layers share their weights
        AlbertConfig(
            vocab_size=100, hidden_size=32, num_attention_heads=2, intermediate_size=64,
            num_hidden_layers=3,
        )
    )  # fmt: skip
    with pytest.raises(MedlinkError, match=r"E502.*freeze_layers is 2.*AlbertModel"):
        prepare(encoder, EncoderSettings(freeze_layers=2), CPU)
    assert prepare(encoder, EncoderSettings(), CPU).module
