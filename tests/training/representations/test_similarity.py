from pathlib import Path

import numpy as np
import pytest

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import MedlinkError
from training.corpora.tally import Tally
from training.representations.similarity import RatedPair, read_pairs, similarity

MAYO = """Mean,CUI1,CUI2,TERM1,TERM2
9.2,C0018681,C0018681,headache,"headache, severe"
1,C0015967,C0020538,fever,hypertension
5.5,C0004096,C0032285,asthma,pneumonia
not rated,C0004096,C0032285,asthma,fever
3,C0004096,,asthma,
"""


def test_table_of_mayo_srs(tmp_path: Path) -> None:
    file = tmp_path / "MayoSRS.csv"
    file.write_text(MAYO, encoding="utf-8")
    tally = Tally()
    pairs = read_pairs(file, tally)
    assert pairs[0] == RatedPair("headache", "headache, severe", 9.2)
    assert len(pairs) == 3
    assert sum(tally.faults.values()) == 2
    with pytest.raises(MedlinkError, match=r"E703.*line 5"):
        read_pairs(file, Tally(strict=True))


def test_a_tab_separated_table_with_other_names(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    rows = ["first\tsecond\trating", "a\tb\t1", "a\tc\t2", "b\tc\t3,5"]
    file.write_text("\n".join(rows), encoding="utf-8")
    assert [pair.rating for pair in read_pairs(file, Tally())] == [1.0, 2.0, 3.5]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "E702"),
        ("term1,mean\na,1\n", "E702"),
        ("term1,term2,mean\n", "E530"),
        ("<html>log in</html>\n", "E702"),
    ],
)
def test_files_that_hold_no_pairs(tmp_path: Path, content: str, code: str) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(MedlinkError, match=code):
        read_pairs(file, Tally())


def test_correlation_is_that_of_ranks(tiny_encoder: Path) -> None:
    encoder = BiEncoder.load(tiny_encoder)
    terms = ["asthma", "fever", "headache", "pneumonia", "heart attack", "diabetes"]
    vectors = encoder.encode(terms)
    cosines = vectors @ vectors.T
    places = [(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 5), (0, 5)]
    # A rating that rises with the cosine, far from in proportion.
    rated = [
        RatedPair(terms[one], terms[other], float(np.exp(9 * cosines[one, other])))
        for one, other in places
    ]
    assert similarity(encoder, rated)["spearman"] == 1.0
    turned = [pair._replace(rating=-pair.rating) for pair in rated]
    found = similarity(encoder, turned)
    assert found["spearman"] == -1.0
    assert found["n"] == 7 and found["ci95"] == [-1.0, -1.0]
    equal = [pair._replace(rating=4.0) for pair in rated]
    assert similarity(encoder, equal) == {"n": 7, "spearman": None, "p": None, "ci95": None}
