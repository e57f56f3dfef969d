"""A name that is the mention scores 1.0 in every tier, whatever computed its vector."""

import numpy as np

from spacy_medlink.types import Mention


def test_vectors_of_another_arithmetic(tiny_assets, monkeypatch):
    engine = tiny_assets.engine(cache_size=0)
    encode = engine.parts.encoder.encode

    def rounded(texts):
        """What a processor that computes in another precision makes of them."""
        vectors = encode(texts) + np.float32(0.004)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    monkeypatch.setattr(engine.parts.encoder, "encode", rounded)
    (ranking,) = engine.rank([Mention("Heart attack")], 2)
    assert ranking[0].scores["exact"] == ranking[0].scores["dense"] == 1
    assert round(ranking[0].score, 6) == 1
    # The same key is not the same string.
    (ranking,) = engine.rank([Mention("heart attacks")], 2)
    assert ranking[0].scores["exact"] == np.float32(0.95)
    assert ranking[0].scores["dense"] < 1
