"""A static student is written as others have theirs, and read back as it was."""

import numpy as np
import pytest

from spacy_medlink.encoders.bi_encoder import BiEncoder
from training.kinds.students import make_student
from training.static_table import main

TEXTS = ["heart attack", "fever", "pain in the chest", "type 2 diabetes"]


@pytest.fixture
def student(tmp_path, tiny_encoder):
    teacher = BiEncoder.load(tiny_encoder)
    student = make_student(teacher, "static", TEXTS)
    student.save(tmp_path / "student")
    return student


def test_it_is_read_back_as_it_was(call, tmp_path, student):
    code, said, _ = call(main, tmp_path / "student", tmp_path / "table")
    assert code == 0 and "word pieces" in said
    again = BiEncoder.load(tmp_path / "table").encode(TEXTS)[:, : student.dim]
    assert (again * student.encode(TEXTS)).sum(axis=1).min() > 0.999
    library = pytest.importorskip("sentence_transformers")
    theirs = library.SentenceTransformer(str(tmp_path / "table"), device="cpu").encode(TEXTS)
    np.testing.assert_allclose((theirs * student.encode(TEXTS)).sum(axis=1), 1, atol=1e-3)


def test_what_is_no_table_of_pieces_is_refused(call, tmp_path, tiny_encoder, student):
    code, _, problem = call(main, tiny_encoder, tmp_path / "table")
    assert code == 1 and "E206" in problem and "layers" in problem
    weight = student.module.embeddings.position_embeddings.weight
    weight.data.normal_(0, 5)
    student.save(tmp_path / "student")
    code, _, problem = call(main, tmp_path / "student", tmp_path / "table")
    assert code == 1 and "stands" in problem and not (tmp_path / "table").exists()
