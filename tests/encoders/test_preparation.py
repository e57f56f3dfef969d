"""How texts are prepared belongs to the encoder: it is saved, and used wherever it encodes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.assets import build_assets
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.cross_encoder import CrossEncoder, CrossSettings
from spacy_medlink.encoders.opening import open_to_encode
from spacy_medlink.encoders.pairs import Pair
from spacy_medlink.encoders.preparation import Preparation
from spacy_medlink.errors import MedlinkError
from spacy_medlink.types import Mention
from tests.tiny import write_tiny_encoder
from training.kinds.encoder_training import Inputs
from training.recipe.reading import read_recipe
from training.run import train

LOWER = Preparation(lower_case=True)


@pytest.fixture(scope="module")
def cased(tmp_path_factory):
    return write_tiny_encoder(tmp_path_factory.mktemp("cased"), cased=True)


def _saved(cased: Path, preparation: Preparation, path: Path) -> Path:
    encoder = BiEncoder.load(cased)
    encoder.preparation = preparation
    encoder.save(path)
    return path


def test_a_cased_model_tells_letter_case_apart(cased):
    first, second = BiEncoder.load(cased).encode(["High Fever", "high fever"])
    assert first @ second < 0.999


@pytest.mark.parametrize("read", [BiEncoder.load, lambda path: open_to_encode(path)[0]])
def test_what_was_saved_is_used_by_whatever_reads_it(cased, tmp_path, read):
    encoder = read(_saved(cased, LOWER, tmp_path / "encoder"))
    assert encoder.preparation == LOWER
    first, second = encoder.encode(["High Fever", "high fever"])
    np.testing.assert_allclose(first, second, atol=1e-5)


def test_a_prefix_and_a_normal_form_are_part_of_what_is_encoded(cased, tmp_path):
    plain = BiEncoder.load(cased)
    both = Preparation(normalisation="NFKC", prefix="query: ")
    encoder = BiEncoder.load(_saved(cased, both, tmp_path / "encoder"))
    np.testing.assert_allclose(
        encoder.encode(["ﬁbrosis"]), plain.encode(["query: fibrosis"]), atol=1e-5
    )


def test_the_fingerprint_tells_preparations_apart_and_keeps_older_ones(cased, tmp_path):
    plain = BiEncoder.load(cased)
    before = plain.fingerprint()
    for preparation in (LOWER, Preparation(prefix="a"), Preparation(normalisation="NFC")):
        path = _saved(cased, preparation, tmp_path / preparation.prefix / "encoder")
        assert BiEncoder.load(path).fingerprint() == open_to_encode(path)[1] != before
    unprepared = _saved(cased, Preparation(), tmp_path / "plain")
    assert BiEncoder.load(unprepared).fingerprint() == before
    assert "lower_case" not in (unprepared / "medlink_encoder.json").read_text()


def test_an_unknown_normal_form_is_refused(cased, tmp_path):
    path = _saved(cased, LOWER, tmp_path / "encoder")
    settings = path / "medlink_encoder.json"
    settings.write_text(settings.read_text().replace("lower_case", "normalisation"))
    with pytest.raises(MedlinkError, match="E302"):
        BiEncoder.load(path)


def test_training_saves_the_letter_case_and_the_index_has_it(cased, tiny_kb, tmp_path):
    quick = {"training.epochs": 1.0, "selection.interpolation": [1.0], "selection.min_gain": -100.0}
    recipe = read_recipe(Path("training/papers/configs/sapbert.cfg"), quick)
    assert recipe.data.lower_case
    train(recipe, Inputs(str(cased), tmp_path / "sap", tiny_kb.path))
    encoder = BiEncoder.load(tmp_path / "sap")
    assert encoder.preparation == LOWER
    assets = build_assets(tmp_path / "assets", tiny_kb.path, str(tmp_path / "sap"))
    assert assets.encoder.preparation == LOWER
    names = [name.text for _, name in tiny_kb.iter_names()]
    vectors = assets.encoder.encode([name.upper() for name in names])
    found = assets.dense.search(vectors, 1)
    assert (found[1][:, 0] > 0.99).all(), "names in capitals have the vectors of the index"


def test_a_tokenizer_that_lower_cases_by_itself_keeps_its_fingerprint(
    tiny_encoder, tiny_kb, tmp_path
):
    recipe = read_recipe(Path("training/papers/configs/sapbert.cfg"), {"training.epochs": 1.0})
    train(recipe, Inputs(str(tiny_encoder), tmp_path / "s", tiny_kb.path))
    assert BiEncoder.load(tmp_path / "s").preparation == Preparation()


def test_a_cross_encoder_reads_texts_as_its_base_does(cased):
    base = BiEncoder.load(cased)
    base.preparation = Preparation(lower_case=True, prefix="query: ")
    encoder = CrossEncoder.of(base, CrossSettings())
    upper, lower = (
        Pair(Mention(text, left=left), candidate)
        for text, left, candidate in (("FEVER", "High ", "Fever"), ("fever", "high ", "fever"))
    )
    first, second = encoder.tokenize([upper, lower])
    assert first == second
    pieces = base.tokenizer.convert_ids_to_tokens(first.ids)
    assert "query" not in "".join(pieces).replace("##", "")


@given(st.text(), st.booleans(), st.sampled_from(["", "NFC", "NFKC"]), st.text(max_size=5))
def test_settings_come_back_as_they_were(text, lower_case, form, prefix):
    preparation = Preparation(lower_case, form, prefix)
    assert Preparation.of(preparation.as_settings()) == preparation
    (once,) = preparation([text])
    assert once.startswith(prefix)
    assert once == prefix + replace(preparation, prefix="")([text])[0]
