"""A pipeline that is packaged asks for the extra that its assets need."""

import json

import pytest

from spacy_medlink import __version__
from spacy_medlink.assets.variant import write_variant
from spacy_medlink.errors import MedlinkError
from tests.tables import table
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


@table(__file__, "extras_are_those_of_the_encoder")
def test_extras_are_those_of_the_encoder(tiny_assets, tmp_path, facts, extra):
    made = assets_of(tmp_path, TINY_RECORDS)
    if facts is not None:
        known = {**tiny_assets.manifest["encoder"], **facts}
        own = {name: value for name, value in known.items() if value is not None}
        made = write_variant(tiny_assets, tmp_path / "other", {"encoder": own})
    assert requirement(made) == f"spacy-medlink{extra}>={__version__}"
