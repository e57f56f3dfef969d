"""Fits the model of the endings of ids to names of a terminology and to annotated mentions."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..kb import KnowledgeBase
from ..linking.endings import Endings, ending_of, features_of
from ..retrieval.memory import Remembered
from ..text.normalisation import key
from ..types import FROM_MENTIONS

_NAMES = 20_000  # most names to fit to
_NAME_WEIGHT = 0.3  # of a name; a mention has weight 1, since annotators choose endings
_SEED = 0
_TIMES = 3  # least occurrences of an ending, or a feature
_MOST = 200  # most endings: ICD-10-CM has thousands, and each costs the same time
_INVERSE_PENALTY = 10.0
_MOST_ITERATIONS = 200

EndingExample = tuple[str, str, float]
"""Key of a text, ending of what it means, and what it counts."""


def ending_examples(kb: KnowledgeBase) -> list[EndingExample]:
    """Take names as examples, except those from annotated mentions, which the memory has."""
    concepts = kb.name_concepts()
    chosen = np.random.default_rng(_SEED).permutation(kb.n_names)[:_NAMES]
    ending_at: dict[int, str] = {}
    examples = []
    for row in np.sort(chosen).tolist():
        name, concept = kb.name_at(row), int(concepts[row])
        if name.source == FROM_MENTIONS:
            continue
        if concept not in ending_at:
            ending_at[concept] = ending_of(kb.concept_at(concept, names=False).id)
        examples.append((key(name.text), ending_at[concept], _NAME_WEIGHT))
    return examples


def learn_endings(names: Sequence[EndingExample], lines: Sequence[Remembered]) -> Endings | None:
    """Fit a model of the endings of ids.

    names (Sequence[EndingExample]): of `ending_examples`. lines (Sequence[Remembered]): annotated
        mentions.
    RETURNS (Optional[Endings]): None for ids without different endings.
    """
    # A mention that occurs ten times counts less than ten mentions.
    mentions = [
        (line.key.lstrip("^"), ending_of(line.id), float(np.sqrt(line.votes)))
        for line in lines if line.is_general and line.id
    ]  # fmt: skip
    examples = [*mentions, *names]
    if not any(ending for _, ending, _ in examples):
        return None
    texts, endings, weights = zip(*examples, strict=True)
    return fit_endings(texts, endings, weights)


def fit_endings(
    texts: Sequence[str], endings: Sequence[str], weights: Sequence[float]
) -> Endings | None:
    """Fit a multinomial logistic regression.

    texts (Sequence[str]): keys. endings (Sequence[str]): of each. weights (Sequence[float]): of
        each.
    RETURNS (Optional[Endings]): None for fewer than two endings.
    """
    often = Counter(endings)
    common = sorted(often, key=lambda ending: (-often[ending], ending))[:_MOST]
    told = sorted(ending for ending in common if often[ending] >= _TIMES)
    among = set(told)
    chosen = [place for place, ending in enumerate(endings) if ending in among]
    if len(told) < 2:
        return None
    from scipy.sparse import csr_array
    from sklearn.linear_model import LogisticRegression

    found = [features_of(texts[place]) for place in chosen]
    counts = Counter(feature for own in found for feature in own)
    features = sorted(feature for feature, count in counts.items() if count >= _TIMES)
    row_of = {feature: number for number, feature in enumerate(features)}
    rows = [[row_of[one] for one in own if one in row_of] for own in found]
    lengths = np.fromiter(map(len, rows), dtype=np.int64)
    matrix = csr_array(
        (
            np.repeat(1 / np.sqrt(np.maximum(lengths, 1)), lengths),
            np.fromiter((one for own in rows for one in own), dtype=np.int64),
            np.concatenate([[0], np.cumsum(lengths)]),
        ),
        shape=(len(rows), len(features)),
    )
    column_of = {ending: number for number, ending in enumerate(told)}
    model = LogisticRegression(C=_INVERSE_PENALTY, max_iter=_MOST_ITERATIONS)
    model.fit(
        matrix,
        np.asarray([column_of[endings[place]] for place in chosen]),
        sample_weight=np.asarray(weights, dtype=np.float64)[chosen],
    )
    slopes, bias = model.coef_, model.intercept_
    if len(told) == 2:  # scikit-learn keeps one row for two classes, that of the second
        slopes, bias = np.vstack([-slopes / 2, slopes / 2]), np.concatenate([-bias / 2, bias / 2])
    return Endings(
        told, features,
        np.ascontiguousarray(slopes.T, dtype=np.float32), np.asarray(bias, dtype=np.float32),
    )  # fmt: skip
