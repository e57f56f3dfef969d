"""A pipeline that is packaged asks for the extra that its assets need."""

import json

import pytest

from spacy_medlink import __version__
from spacy_medlink.assets.variant import write_variant
from spacy_medlink.errors import MedlinkError
from tests.tiny import TINY_RECORDS, assets_of
from training.package import main as make_pipeline
from training.package import requirement


def test_the_meta_of_a_pipeline_says_what_it_needs(tiny_assets, tmp_path):
    out = tmp_path / "pipeline"
    make_pipeline(tiny_assets.path, out, lang="en", cui_scheme=None, name="x", version="1")
    meta = json.loads((out / "meta.json").read_text("utf8"))
    assert meta["requirements"] == [f"spacy-medlink[torch]>={__version__}"]


def test_a_language_without_a_tokenizer(tiny_assets, tmp_path):
    with pytest.raises(MedlinkError, match=r"E604.*'qq'"):
        make_pipeline(
            tiny_assets.path, tmp_path / "x", lang="qq", cui_scheme=None, name="x", version="1"
        )
    assert not (tmp_path / "x").exists()


def test_an_export_needs_its_runtime(tiny_assets, tmp_path):
    own = {"name": "onnx", "precision": "fp32"}
    facts = {"encoder": {**tiny_assets.manifest["encoder"], "runtime": own}}
    made = write_variant(tiny_assets, tmp_path / "assets", facts)
    assert requirement(made) == f"spacy-medlink[onnx]>={__version__}"


def test_assets_that_do_not_say_whether_their_encoder_is_static(tiny_assets, tmp_path):
    facts = dict(tiny_assets.manifest["encoder"])
    del facts["static"]  # as in builds before there were such encoders
    made = write_variant(tiny_assets, tmp_path / "assets", {"encoder": facts})
    assert requirement(made) == f"spacy-medlink[torch]>={__version__}"


def test_a_static_encoder_needs_nothing_more(tiny_assets, tmp_path):
    facts = {"encoder": {**tiny_assets.manifest["encoder"], "static": True}}
    made = write_variant(tiny_assets, tmp_path / "assets", facts)
    assert requirement(made) == f"spacy-medlink>={__version__}"


def test_without_an_encoder_nothing_more_is_needed(tmp_path):
    assert requirement(assets_of(tmp_path, TINY_RECORDS)) == f"spacy-medlink>={__version__}"
