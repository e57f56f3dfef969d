"""Bert computes what the models of `transformers` compute."""

import pytest
import torch
from transformers import (
    BertConfig,
    BertModel,
    DistilBertConfig,
    RobertaConfig,
    RobertaModel,
    XLMRobertaConfig,
    XLMRobertaModel,
)

from spacy_medlink.encoders.bert import Bert, can_run

SMALL = {
    "vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4,
    "intermediate_size": 64, "max_position_embeddings": 40,
}  # fmt: skip
MODELS = {
    "bert": (BertConfig, BertModel),
    "roberta": (RobertaConfig, RobertaModel),
    "xlm-roberta": (XLMRobertaConfig, XLMRobertaModel),
}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("segments", [False, True])
@pytest.mark.parametrize("padded", [False, True])
def test_the_same_as_transformers(kind, segments, padded):
    make_config, make_model = MODELS[kind]
    torch.manual_seed(0)
    config = make_config(**SMALL, type_vocab_size=2, layer_norm_eps=1e-6)
    theirs = make_model._from_config(config, attn_implementation="eager").eval()
    for parameter in theirs.parameters():  # new ones have biases of 0 and norms of 1
        torch.nn.init.normal_(parameter, std=0.3)
    assert can_run(config.to_dict())
    ours = Bert(config.to_dict(), theirs.state_dict(), torch.float32)
    ids = torch.randint(3, 50, (5, 20))
    mask = torch.ones_like(ids)
    if padded:
        for row, length in enumerate((20, 7, 1, 13, 19)):
            mask[row, length:] = 0
        ids[mask == 0] = config.pad_token_id
    types = torch.randint(0, 2, ids.shape) if segments else None
    with torch.inference_mode():
        want = theirs(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state
        found = ours(ids, mask, types).last_hidden_state
    torch.testing.assert_close(found[mask.bool()], want[mask.bool()], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    "config",
    [
        DistilBertConfig(),
        BertConfig(hidden_act="relu"),
        BertConfig(position_embedding_type="relative_key"),
        BertConfig(is_decoder=True),
    ],
)
def test_other_models_are_left_to_transformers(config):
    assert not can_run(config.to_dict())


def test_weights_that_are_missing():
    config = BertConfig(**SMALL)
    weights = BertModel(config).state_dict()
    del weights["encoder.layer.2.output.dense.bias"]
    with pytest.raises(KeyError, match=r"layer\.2\.output\.dense\.bias"):
        Bert(config.to_dict(), weights, torch.float32)
