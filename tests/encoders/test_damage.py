"""Files of an encoder that are damaged as files really get damaged, whoever reads them."""

import shutil
from itertools import product

import numpy as np
import pytest

from spacy_medlink.encoders.adapters import add_adapters
from spacy_medlink.encoders.bi_encoder import ADAPTERS_FILE, BiEncoder
from spacy_medlink.encoders.cross_encoder import CrossEncoder, CrossSettings
from spacy_medlink.encoders.opening import open_to_encode
from spacy_medlink.errors import MedlinkError
from tests.encoders.test_tables import write_static
from tests.mutants import damage, told
from tests.tables import table

OWN = ("config.json", "model.safetensors", "tokenizer.json", "medlink_encoder.json")
CROSS = ("medlink_cross_encoder.json", "medlink_head.safetensors")
KINDS = {  # its files, and how it is read
    "bi-encoder": (OWN, BiEncoder.load),
    "to encode only": (OWN, open_to_encode),
    "cross-encoder": (CROSS, CrossEncoder.load),
    "static": (("model.safetensors", "tokenizer.json"), BiEncoder.load),
    "adapters": ((ADAPTERS_FILE,), BiEncoder.load),
}
DAMAGES = ("gone", "empty", "half", "garbage", "long garbage", "an object", "a list")
CASES = [(kind, *case) for kind, (files, _) in KINDS.items() for case in product(files, DAMAGES)]
# What has a default, or vocab.txt in its place.
HARMLESS = {
    *((kind, "medlink_encoder.json", how) for kind in ("bi-encoder", "to encode only")
      for how in ("gone", "an object")),
    ("bi-encoder", "tokenizer.json", "gone"), ("to encode only", "tokenizer.json", "gone"),
    ("cross-encoder", CROSS[0], "an object"),
}  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory, tiny_encoder):
    """A directory of each kind."""
    place = tmp_path_factory.mktemp("kinds")
    start = BiEncoder.load(tiny_encoder)
    for kind in ("bi-encoder", "to encode only"):
        start.save(place / kind)
        shutil.copy(tiny_encoder / "vocab.txt", place / kind)  # transformers 5 writes none
    CrossEncoder.of(start, CrossSettings()).save(place / "cross-encoder")
    write_static(place / "static", {"embeddings": np.ones((10, 12), dtype=np.float32)})
    adapted = BiEncoder.load(tiny_encoder)
    add_adapters(adapted.module, 4)
    adapted.save(place / "adapters")
    return place


@pytest.mark.parametrize(("kind", "file", "how"), CASES)
def test_what_is_damaged_is_refused(written, tmp_path, kind, file, how):
    place = shutil.copytree(written / kind, tmp_path / "encoder")
    damage(place / file, how)
    read, codes = lambda: KINDS[kind][1](place), {"E205", "E206", "E302"}
    assert (told(read, codes)[1] is None) == ((kind, file, how) in HARMLESS)


@table(__file__, "what_says_what_cannot_be_is_refused")
def test_what_says_what_cannot_be_is_refused(written, tmp_path, kind, file, content):
    place = shutil.copytree(written / kind, tmp_path / "encoder")
    (place / file).write_text(content)
    with pytest.raises(MedlinkError, match=r"E206|E302"):
        KINDS[kind][1](place)


def test_a_directory_without_a_head(tiny_encoder):
    with pytest.raises(MedlinkError, match="E206"):
        CrossEncoder.load(tiny_encoder)
