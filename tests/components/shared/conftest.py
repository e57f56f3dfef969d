"""A knowledge base without vectors, gold mentions, and pipelines over them."""

import pytest
from thinc.api import Adam

from tests.components.test_spacy_train import MENTIONS, notes_of
from tests.lines import write_lines
from tests.tiny import TINY_RECORDS, assets_of


@pytest.fixture(scope="session")
def names(tmp_path_factory):
    """Assets without an encoder: the pipeline's transformer makes the vectors."""
    return assets_of(tmp_path_factory.mktemp("names"), TINY_RECORDS)


@pytest.fixture(scope="session")
def gold(tmp_path_factory):
    path = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    return write_lines(path, *notes_of(MENTIONS, type="DIS"))


@pytest.fixture
def nlp(tiny_encoder, names):
    from .pipelines import made

    return made(tiny_encoder, names)


@pytest.fixture(scope="session")
def trained(tiny_encoder, names, gold):
    """A pipeline that has learned the gold mentions; do not change it."""
    from .pipelines import examples_of, made

    nlp = made(tiny_encoder, names)
    examples, sgd = examples_of(nlp, gold), Adam(0.003)
    nlp.losses = [nlp.update(examples, sgd=sgd)["medical_linker"] for _ in range(25)]
    return nlp
