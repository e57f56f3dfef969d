"""What became of one gold mention: all that the metrics need to know."""

from collections.abc import Collection, Hashable, Iterable
from typing import NamedTuple


class Outcome(NamedTuple):
    """One gold mention and how well its ranking did.

    rank (int): place of the first right answer, from 1; 0 when none of those given is right.
    is_nil (bool): the gold standard says that no concept is right.
    abstained (bool): the linker says so.
    in_kb (bool): the knowledge base has a gold concept; where not, no ranking can be right, and
        the mention counts as wrong all the same.
    doc (str): the document, since mentions of one document are not independent.
    """

    rank: int
    is_nil: bool = False
    abstained: bool = False
    in_kb: bool = True
    doc: str = ""
    lang: str = ""
    type: str = ""


def first_right(answers: Iterable[Hashable], right: Collection[Hashable]) -> int:
    """Find the place of the first right answer, from 1; answers that come again do not count.

    answers (Iterable[Hashable]): best first. right (Collection[Hashable]): any one is right.
    RETURNS (int): 0 when no answer is right.
    """
    if not right:
        return 0
    for place, answer in enumerate(dict.fromkeys(answers), 1):
        if answer in right:
            return place
    return 0
