"""The files of the documentation: written once, with an encoder that has learned synonyms."""

import pytest

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import MedlinkError
from spacy_medlink.workbench.example import FILES, write_example


def test_the_files_are_written_once_and_the_encoder_knows_synonyms(tmp_path):
    write_example(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*FILES}
    one, same, other = BiEncoder.load(tmp_path / "my_model").encode(["fever", "pyrexia", "gout"])
    assert one @ same > 0.5 > one @ other
    (tmp_path / "notes.csv").write_text("mine")
    with pytest.raises(MedlinkError, match=r"E109.*it exists already"):
        write_example(tmp_path)
    assert (tmp_path / "notes.csv").read_text() == "mine"
