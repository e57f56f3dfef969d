"""Finding a mention in its sentence, for corpora that give both but no offsets."""

import re

from .records import Span


def find_said(text: str, mention_text: str, after: int = 0) -> tuple[Span, ...]:
    """Find a mention in a text, ignoring case: first as whole words, then inside words.

    after (int): where to begin. RETURNS (Tuple[Span, ...]): the first place, or ().
    """
    pattern = r"\s+".join(map(re.escape, mention_text.split()))
    if not pattern:
        return ()
    for way in (rf"(?<!\w){pattern}(?!\w)", pattern):
        match = re.compile(way, re.IGNORECASE).search(text, after)
        if match:
            return (match.span(),)
    return ()
