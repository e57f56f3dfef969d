"""Each row of the table of neighbours decides its example, and nothing else would."""

import pytest

from spacy_medlink.assets.languages import common_words
from spacy_medlink.components.finding import neighbours
from spacy_medlink.components.finding.matches import Match
from spacy_medlink.components.finding.neighbours import YES, Neighbours, Row, rows_of
from spacy_medlink.retrieval.vocabulary import Vocabulary
from spacy_medlink.text.normalisation import key
from spacy_medlink.text.pieces import Pieces
from tests.growth import calls, exponent

QUESTIONS = ("name", "short", "phrase", "form", "modifier")
# Names in which another word follows each word, and those that it ends.
_USES = {key(word): uses for word, uses in {
    **dict.fromkeys("pulmonary chest induced home".split(), (5, 0)),
    **dict.fromkeys("disease fever hypotension cancer pain".split(), (2, 9)),
    **dict.fromkeys("aids labs hearing all".split(), (9, 9)), "brown": (0, 20),
    "abscess": (1, 1), "malaise": (0, 3), "anemia": (9, 5),
}.items()}  # fmt: skip


def score(row: Row) -> float:
    first, last = row.example.index("«"), row.example.index("»") - 1
    stop_words = set("the of and is in on at he was his has by".split())
    pieces = Pieces(row.example.replace("«", "").replace("»", ""), stop_words)
    start, end = pieces.before(first), pieces.before(last)
    names = [] if row.asks == "modifier" and "anemia" not in row.example else [range(start, end)]
    names += [range(at, at + 1) for at, one in enumerate(pieces.keys) if _USES.get(one, (0, 0))[1]]
    matches = [Match(name.start, name.stop, frozenset(name), (0,)) for name in names]
    words = Neighbours(pieces, matches, Vocabulary.of(_USES), common_words("en"), "en")
    is_sure = row.pattern.count("ordinary") or row.pattern.startswith("<abbreviated")
    extra = ("ordinary" if row.asks == "short" else "abbreviated") if is_sure else ""
    words.mark([at for at, text in enumerate(pieces.lower) if text == "migrainous"], "form")
    return words.score(row.asks, start, end, extra)


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_row_decides_its_example(question, monkeypatch):
    rows = rows_of(question)
    for row in rows:
        is_yes = row.weight > 0
        assert (score(row) > YES) == is_yes, row
        others = [other for other in rows if other is not row]
        monkeypatch.setattr(neighbours, "rows_of", lambda _, rest=others: rest)
        assert (score(row) > YES) != is_yes, row
        monkeypatch.undo()


def _scores(words):
    return [words.score(one, at, at + 1) for one in QUESTIONS for at in range(len(words.pieces))]


@pytest.mark.parametrize("unit", ["MS ", "A. ", "Roe, ", "and ", "1-", "Oak of ", "knee "])
def test_time_is_linear(unit):
    counts = {}
    for size in (200, 800):
        pieces = Pieces(unit * size)
        matches = [Match(at, at + 1, frozenset([at]), (0,)) for at in range(len(pieces))]
        words = Neighbours(pieces, matches, Vocabulary.of(_USES), common_words("en"), "en")

        counts[size] = calls(_scores, words)
    assert exponent(counts) < 1.2
