"""Word forms: words that say the same within names, learned from the synonyms of a terminology.

"Renal cyst" and "kidney cyst" are names of one concept that differ in one word. This is evidence
for "renal" and "kidney"; two such names of different concepts are evidence against it. Inflection
("cyst", "cystic"), derivation ("hypertrophy", "hypertrophic") and synonyms are all learned alike,
in any language. Clusters of a list ("malformation", "anomaly") count as evidence from elsewhere,
which the names of the terminology may outweigh.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

Forms = Mapping[str, str]
"""The form that stands for a word, by the word. Both are keys (`normalisation.key`)."""
NO_FORMS: Forms = {}

_Uses = dict[frozenset[str], set[int]]  # concepts of names, by their words but one
_Pair = tuple[str, str]

_PRECISION = 0.95  # least share of names in which two words mean the same
_LISTED_PRECISION, _LISTED = 0.8, 20  # of two words of a listed cluster; the evidence of the list
_ROUNDS = 3  # of learning: each makes more names alike
_MOST_WORDS = 8
_MOST_ALIKE = 30  # words of one concept in one context: more are a list, such as of genes
_STEM, _ENDING = 4, 4  # letters: of a stem at least, of an ending at most
# Laterality, negation, numbers and words that link or class others equal no other word.
_FIXED = frozenset(
    "left right bilateral unilateral no not non without never izquierdo izquierda derecho derecha "
    "sin gauche droit droite sans links rechts linke rechte ohne nicht kein "
    "and or with in by to for from due con y e o en por para avec et ou par pour mit und oder bei "
    "met en van per da di con syndrome type".split()
)
_NUMBER = re.compile(r".{0,2}|[ivx]+|.*\d.*")


class _Evidence(NamedTuple):
    """Evidence on two words: names that differ in them alone. same, other (int): their concepts."""

    same: int
    other: int

    def precision(self, doubt: float) -> float:
        """Estimate how often the words say the same. doubt (float): see `_doubt`."""
        return self.same / (self.same + self.other + doubt)


def learn_forms(
    names: Iterable[tuple[Sequence[str], int]], clusters: Iterable[Sequence[str]] = ()
) -> dict[str, str]:
    """Learn which words of names say the same.

    names (Iterable[Tuple[Sequence[str], int]]): the keys of the words of a name, and its concept.
    clusters (Iterable[Sequence[str]]): keys of words that mean the same in medicine.
    RETURNS (Dict[str, str]): as `Forms`; words that are only equivalent to themselves are left out.
    """
    worded = [(frozenset(words), concept) for words, concept in names if len(words) <= _MOST_WORDS]
    forms: dict[str, str] = {}
    listed = {pair for words in clusters for pair in combinations(sorted(set(words)), 2)}
    for _ in range(_ROUNDS):
        new = _alike(_uses(worded, forms), listed)
        listed = set()  # each counts once
        if not new:
            break
        forms = {word: new.get(form, form) for word, form in forms.items()} | new
    return forms


def _uses(names: Iterable[tuple[frozenset[str], int]], forms: Forms) -> dict[str, _Uses]:
    """Collect the contexts of each word that another word has, too."""
    concepts: _Uses = defaultdict(set)
    for words, concept in names:
        concepts[frozenset(forms.get(word, word) for word in words)].add(concept)
    contexts: dict[frozenset[str], list[str]] = defaultdict(list)
    for words in concepts:
        for word in words:
            contexts[words - {word}].append(word)
    uses: dict[str, _Uses] = defaultdict(dict)
    for context, alike in contexts.items():
        if len(alike) > 1:
            for word in alike:
                if not is_fixed(word):
                    uses[word][context] = concepts[context | {word}]
    return uses


def is_fixed(word: str) -> bool:
    """Tell whether a word is never equivalent to another."""
    return word in _FIXED or bool(_NUMBER.fullmatch(word))


def _alike(uses: dict[str, _Uses], listed: Collection[_Pair]) -> dict[str, str]:
    """Find words that say the same, the surest first: all words of a group must, taken together."""
    pairs = {pair: _evidence(uses[pair[0]], uses[pair[1]]) for pair in _pairs(uses)}
    doubts = {
        kin: _doubt(evidence for pair, evidence in pairs.items() if _is_kin(pair) == kin)
        for kin in (False, True)
    }

    def precision(pair: _Pair, evidence: _Evidence) -> float:
        if pair in listed:
            return evidence._replace(same=evidence.same + _LISTED).precision(0)
        return evidence.precision(doubts[_is_kin(pair)])

    pairs |= {pair: _evidence(*(uses.get(word, {}) for word in pair)) for pair in listed}
    sure = {pair: precision(pair, evidence) for pair, evidence in pairs.items()}
    form: dict[str, str] = {}
    for pair in sorted(pairs, key=lambda pair_of_words: (-sure[pair_of_words], pair_of_words)):
        least = _LISTED_PRECISION if pair in listed else _PRECISION
        first, second = (_form(word, form) for word in pair)
        if sure[pair] < least or first == second:
            continue
        of_first, of_second = uses.get(first, {}), uses.get(second, {})
        if len(of_first) < len(of_second):
            first, second, of_first, of_second = second, first, of_second, of_first
        if precision(pair, _evidence(of_first, of_second)) >= least:
            form[second] = first
            uses.pop(second, None)
            for context, concepts in of_second.items():
                of_first[context] = of_first.get(context, set()) | concepts
    return {word: _form(word, form) for word in form}


def _pairs(uses: Mapping[str, _Uses]) -> set[_Pair]:
    """List the pairs of words that two names of one concept differ in."""
    alike: dict[tuple[frozenset[str], int], list[str]] = defaultdict(list)
    for word, contexts in uses.items():
        for context, concepts in contexts.items():
            for concept in concepts:
                alike[context, concept].append(word)
    return {
        pair
        for words in alike.values()
        if len(words) <= _MOST_ALIKE
        for pair in combinations(sorted(words), 2)
    }


def _evidence(first: _Uses, second: _Uses) -> _Evidence:
    if len(first) > len(second):
        first, second = second, first
    both = [context for context in first if context in second]
    same = sum(not first[context].isdisjoint(second[context]) for context in both)
    return _Evidence(same, len(both) - same)


def _is_kin(pair: _Pair) -> bool:
    """Tell whether two words have the same stem, as far as their letters say."""
    first, second = pair
    stem = max(_STEM, len(first) - _ENDING, len(second) - _ENDING)
    return first[:stem] == second[:stem]


def _doubt(evidence: Iterable[_Evidence]) -> float:
    """Estimate how much evidence against a pair of words is still to come, in pieces.

    Held out, a piece of evidence shows how far one other piece can be believed: `doubt` is how
    often the two contradict each other, for each time that they agree.
    """
    pairs = Counter(evidence)
    return (pairs[_Evidence(1, 1)] + 1) / (2 * pairs[_Evidence(2, 0)] + 1)


def _form(word: str, form: Forms) -> str:
    while word in form:
        word = form[word]
    return word
