"""Static encoders of others give the vectors of their own libraries."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from spacy_medlink.encoders.bi_encoder import BiEncoder, says_pooling
from spacy_medlink.encoders.runtime import RuntimeEncoder
from spacy_medlink.encoders.tables import static_directory
from spacy_medlink.errors import MedlinkError
from spacy_medlink.util.held import Held

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "heart", "attack", "fever", "of", "the", "##s"]
TEXTS = ["Heart attack", "fever", "fevers of the heart", "heart zzz", "attack " * 20, "the"]
_MODULES = "sentence_transformers.models."
_STATIC = f"{_MODULES}StaticEmbedding"
_NORMALIZE = {"idx": 1, "name": "1", "path": "1_Normalize", "type": f"{_MODULES}Normalize"}


def _tokenizer(words: list[str] = WORDS) -> Tokenizer:
    vocabulary = {word: place for place, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if "[CLS]" in words:
        ends = [("[SEP]", words.index("[SEP]")), ("[CLS]", words.index("[CLS]"))]
        tokenizer.post_processor = processors.BertProcessing(*ends)
    return tokenizer


def write_static(
    path: Path, arrays: dict, nested: str = "", tokenizer: Tokenizer | None = None
) -> Path:
    """Write a directory of model2vec, or, with tables called as they are there, of the others."""
    within = path / nested
    within.mkdir(parents=True)
    save_file(arrays, within / "model.safetensors")
    (tokenizer or _tokenizer()).save(str(within / "tokenizer.json"))
    modules = [{"idx": 0, "name": "0", "path": nested, "type": _STATIC}, _NORMALIZE]
    if "embeddings" in arrays:
        config = {"model_type": "model2vec", "normalize": True, "hidden_dim": 12}
        (path / "config.json").write_text(json.dumps(config))
    (path / "modules.json").write_text(json.dumps(modules))
    return path


def _table(rows: int = len(WORDS), dim: int = 12) -> np.ndarray:
    return np.random.default_rng(0).normal(0.3, 1, (rows, dim)).astype(np.float32)


def _means(table: np.ndarray, weights: np.ndarray, left_out: set[int]) -> np.ndarray:
    """The mean of the vectors of word pieces, as both libraries compute it."""
    rows = []
    for encoding in _tokenizer().encode_batch(TEXTS, add_special_tokens=False):
        ids = [piece for piece in encoding.ids if piece not in left_out]
        rows.append((table[ids] * weights[ids, None]).mean(axis=0))
    return np.array([row / np.linalg.norm(row) for row in rows])


_MAPPING = np.array([0, 0, 0, 0, 1, 2, 3, 1, 2, 3])
_WEIGHTS = np.linspace(0.2, 2, len(WORDS)).astype(np.float32)
_ONES = np.ones(len(WORDS), dtype=np.float32)
FORMS = {
    "model2vec": ({"embeddings": _table()}, "", _table(), _ONES, {1}),
    "weights and mapping": (
        {"embeddings": _table(4), "mapping": _MAPPING, "weights": _WEIGHTS},
        "", _table(4)[_MAPPING], _WEIGHTS, {1},
    ),
    "16 bits": (
        {"embeddings": _table().astype(np.float16)}, "",
        _table().astype(np.float16).astype(np.float32), _ONES, {1},
    ),
    "sentence-transformers": ({"embedding.weight": _table()}, "", _table(), _ONES, set()),
    "nested": ({"embedding.weight": _table()}, "0_StaticEmbedding", _table(), _ONES, set()),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_vectors_are_the_means_of_the_table(tmp_path, form):
    arrays, nested, table, weights, left_out = FORMS[form]
    path = write_static(tmp_path / "static", arrays, nested)
    encoder, expected = BiEncoder.load(path), _means(table, weights, left_out)
    whole = encoder.run_batches(encoder.module, encoder.tokenize(TEXTS), 512)
    np.testing.assert_allclose(whole @ whole.T, expected @ expected.T, atol=1e-5)
    assert (encoder.encode(TEXTS)[:, : table.shape[1]] * expected).sum(1).min() > 0.999
    assert np.isfinite(encoder.encode(["", "[PAD]"])).all()
    assert encoder.is_static and says_pooling(path)
    encoder.save(tmp_path / "saved")
    without_torch = RuntimeEncoder(None, Held(tmp_path / "saved")).encode(TEXTS)
    np.testing.assert_allclose(without_torch, whole, atol=1e-5)


@pytest.mark.parametrize("form", ["sentence-transformers", "nested"])
def test_sentence_transformers_agrees(tmp_path, form):
    library = pytest.importorskip("sentence_transformers")
    path = write_static(tmp_path / "static", *FORMS[form][:2])
    expected = library.SentenceTransformer(str(path), device="cpu").encode(TEXTS)
    found = BiEncoder.load(path).encode(TEXTS)[:, : expected.shape[1]]
    assert (found * expected / np.linalg.norm(expected, axis=1)[:, None]).sum(1).min() > 0.999


@pytest.mark.parametrize("form", ["model2vec", "weights and mapping", "16 bits"])
def test_model2vec_agrees(tmp_path, form):
    library = pytest.importorskip("model2vec")
    path = write_static(tmp_path / "static", *FORMS[form][:2])
    expected = library.StaticModel.from_pretrained(path).encode(TEXTS)
    found = BiEncoder.load(path).encode(TEXTS)[:, : expected.shape[1]]
    assert (found * expected).sum(1).min() > 0.999


def test_a_tokenizer_without_special_tokens(tmp_path):
    words = ["[UNK]", "heart", "attack", "fever"]
    arrays = {"embeddings": _table(len(words))}
    encoder = BiEncoder.load(write_static(tmp_path / "static", arrays, "", _tokenizer(words)))
    assert np.isfinite(encoder.encode(["", "zzz", "fever"])).all()
    assert float(encoder.encode(["fever"])[0] @ encoder.encode(["Fever zzz"])[0]) > 0.999


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        ({"embeddings": _table(4)}, "4 vectors for 10"),
        ({"embeddings": _table() * np.nan}, "not finite"),
        ({"embeddings": _table()[0]}, "no table"),
        ({"embeddings": _table().astype(np.int8)}, "no table"),
        ({"embeddings": _table(4), "mapping": _MAPPING + 1}, "out of bounds"),
        ({"embeddings": _table(), "weights": _WEIGHTS[:3]}, "broadcast"),
        ({"other": _table()}, "no table"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, arrays, problem):
    path = write_static(tmp_path / "static", arrays)
    (path / "config.json").write_text('{"model_type": "model2vec"}')
    with pytest.raises(MedlinkError, match=f"E206.*{problem}"):
        BiEncoder.load(path)


def test_further_modules_are_refused_and_others_are_not_static(tmp_path, tiny_encoder):
    path = write_static(tmp_path / "static", {"embeddings": _table()})
    dense = [{"path": "", "type": _STATIC}, {"path": "1", "type": "sentence_transformers.X.Dense"}]
    (path / "modules.json").write_text(json.dumps(dense))
    with pytest.raises(MedlinkError, match=r"E206.*Dense"):
        BiEncoder.load(path)
    assert static_directory(Path(tiny_encoder)) is None
