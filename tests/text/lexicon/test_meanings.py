"""What decides between the meanings of short forms, in sentences as notes have them.

"[MS]" is the short form that is asked about. What is expected is the first long form; "-" where
nothing decides; in parentheses what is nothing to be linked.
"""

import re

from spacy_medlink.text.lexicon import Surroundings, open_lexicon
from tests.tables import table


def meaning(language: str, marked: str, label: str = "") -> str:
    found = re.search(r"\[(.+?)\]", marked)
    assert found is not None
    text = marked.replace("[", "").replace("]", "")
    place = Surroundings(text).at(found.start(), found.end() - 2, label)
    sense = open_lexicon("clinical", language).sense(found[1], place)
    if sense is None or not sense.longs:
        return "-"
    return sense.longs[0] if sense.is_concept else f"({sense.longs[0]})"


@table(__file__, "english")
def test_english(sentence: str, expected: str) -> None:
    assert meaning("en", sentence) == expected


@table(__file__, "ordinary_words")
def test_ordinary_words(sentence: str, expected: str) -> None:
    assert meaning("en", sentence) == expected


@table(__file__, "other_languages")
def test_other_languages(language: str, sentence: str, expected: str) -> None:
    assert meaning(language, sentence) == expected
