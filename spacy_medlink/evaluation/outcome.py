"""What became of one gold mention: all that the metrics need to know."""

from collections.abc import Collection, Hashable, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

_NONE: Mapping[str, tuple[str, ...]] = MappingProxyType({})


class Outcome(NamedTuple):
    """One gold mention and how well its ranking did.

    rank (int): place of the first right answer, from 1; 0 when none of those given is right.
    is_nil (bool): the gold standard says that no concept is right.
    abstained (bool): the linker says so.
    in_kb (bool): the knowledge base has a gold concept; where not, no ranking can be right, and
        the mention counts as wrong all the same.
    doc (str): the document, since mentions of one document are not independent.
    retrieved (int): like `rank`, among what the retriever proposed, however the reranker then
        ordered it, and deeper down.
    rollup (Optional[int]): steps from the gold concept up to the answer (negative: down); 0 for
        the same concept, None for one that is neither above nor below it.
    labels (Mapping[str, Tuple[str, ...]]): further ways to group mentions: label to the groups
        that this one is in, such as {"length": ("2",)}.
    """

    rank: int
    is_nil: bool = False
    abstained: bool = False
    in_kb: bool = True
    doc: str = ""
    lang: str = ""
    type: str = ""
    retrieved: int = 0
    rollup: int | None = None
    labels: Mapping[str, tuple[str, ...]] = _NONE


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
