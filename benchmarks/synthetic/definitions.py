"""Definitions of concepts: two invented clauses, in English."""

from functools import lru_cache

import numpy as np

from benchmarks.synthetic.draws import Bits, bits, draw
from benchmarks.synthetic.languages import HEADS, SITES
from benchmarks.synthetic.words import PREFIXES, lexicon

CLAUSES = 1 << 12
OPENINGS = (
    "A disorder in which {0}{1} of the {2} leads to {3}{4}",
    "A {0}{1} that arises in the {2} and is followed by {3}{4} in most cases",
    "An agent that reduces {0}{1} of the {2}; it is used against {3}{4}",
    "A procedure by which the {2} is examined for {0}{1} or for {3}{4}",
)
ENDINGS = (
    "It is confirmed by {0}{1} of the {2} and treated with {3}{4}.",
    "Its onset is sudden, with {0}{1} at the {2}, and {3}{4} may persist for years.",
    "It differs from {0}{1} in that the {2} is spared; {3}{4} is rare.",
    "See also {0}{1} of the {2} (type 2), {3}{4}.",
)


@lru_cache(maxsize=1)
def clauses() -> tuple[list[str], list[str]]:
    """Compose the clauses that definitions start and end with.

    RETURNS (tuple[list[str], list[str]]): CLAUSES of each.
    """
    words = lexicon(1)
    random = draw(0, 40, np.arange(2 * CLAUSES))
    pieces = zip(
        (bits(random, 0, 10) % PREFIXES).tolist(),
        (bits(random, 10, 13) % HEADS).tolist(),
        (bits(random, 23, 13) % SITES).tolist(),
        (bits(random, 36, 10) % PREFIXES).tolist(),
        (bits(random, 46, 13) % HEADS).tolist(),
        strict=True,
    )
    filled = [
        (words.prefixes[a], words.heads[b], words.sites[c], words.prefixes[d], words.heads[e])
        for a, b, c, d, e in pieces
    ]
    starts = [OPENINGS[i % 4].format(*filled[i]) for i in range(CLAUSES)]
    ends = [ENDINGS[i % 4].format(*filled[i + CLAUSES]) for i in range(CLAUSES)]
    return starts, ends


def definitions(random: Bits) -> list[str]:
    """Compose definitions.

    random (Bits): random bits of each, (n,).
    RETURNS (list[str]): n definitions of two sentences.
    """
    starts, ends = clauses()
    chosen = zip(bits(random, 0, 12).tolist(), bits(random, 12, 12).tolist(), strict=True)
    return [f"{starts[a]}. {ends[b]}" for a, b in chosen]
