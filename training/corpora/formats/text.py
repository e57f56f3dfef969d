"""Text files of corpora with a mention a line."""

import re
from collections.abc import Callable
from pathlib import Path

from spacy_medlink.exchange.documents import Mention, Span
from spacy_medlink.exchange.lines import read_lines

from ..tally import Tally


def read_mentions(
    path: Path, tally: Tally, parse: Callable[[str], Mention | None]
) -> tuple[Mention, ...]:
    """Read a mention of each line; lines that are none are counted as faults.

    parse (Callable[[str], Optional[Mention]]): makes a mention of a line, without its number.
    """
    mentions = []
    for line_number, line in read_lines(path, tally):
        if mention := parse(line.strip()):
            mentions.append(mention._replace(line=line_number))
        elif line.strip():
            tally.fault("lines that are no mention", path, line_number)
    return tuple(mentions)


def find_said(text: str, mention_text: str, after: int = 0) -> tuple[Span, ...]:
    """Find a mention in a text, ignoring case: first as whole words, then inside words.

    after (int): where to begin. RETURNS (Tuple[Span, ...]): the first place, or ().
    """
    pattern = r"\s+".join(map(re.escape, mention_text.split()))
    for way in (rf"(?<!\w){pattern}(?!\w)", pattern) if pattern else ():
        if match := re.compile(way, re.IGNORECASE).search(text, after):
            return (match.span(),)
    return ()
