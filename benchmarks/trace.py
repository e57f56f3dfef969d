"""Calls of this package's own functions for one document: `python -m benchmarks.trace`.

`medical_mentions` and `medical_linker` over the starter read a text with two mentions, and then
again under `sys.setprofile`, which counts calls, functions and files of `spacy_medlink`. It counts
them, too, for another text of the same form whose words are new. Another terminology: `--assets`.
"""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Annotated, Any

import typer

AGAIN, NEW = "She has fever and asthma.", "He had diarrhea, then gout."
_PACKAGE = Path(__file__).parents[1] / "spacy_medlink"


def own_calls(work: Callable[[], object]) -> Counter[CodeType]:
    """Count the calls of each function of the package; a generator counts each time it goes on."""
    calls: Counter[CodeType] = Counter()
    root = str(_PACKAGE)

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(root):
            calls[frame.f_code] += 1

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def trace(assets: str = "") -> dict[str, dict[str, int]]:
    """Count for a text that was read before ("again"), and for one with new words ("new words").

    RETURNS: `calls`, `functions`, `files` and `mentions` of each.
    """
    import spacy

    nlp = spacy.blank("en")
    for name in ("medical_mentions", "medical_linker"):
        nlp.add_pipe(name, config={"assets": assets or None})
    nlp(AGAIN)
    return {"again": _sizes(nlp, AGAIN), "new words": _sizes(nlp, NEW)}


def _sizes(nlp: Any, text: str) -> dict[str, int]:
    docs: list[Any] = []
    calls = own_calls(lambda: docs.append(nlp(text)))
    return {
        "calls": calls.total(),
        "functions": len(calls),
        "files": len({code.co_filename for code in calls}),
        "mentions": len(docs[0].ents),
    }


def main(assets: Annotated[str, typer.Option(help="Assets; default: the starter.")] = "") -> None:
    """Print the counts."""
    for what, sizes in trace(assets).items():
        typer.echo(f"{what}: " + ", ".join(f"{count} {name}" for name, count in sizes.items()))


if __name__ == "__main__":
    typer.run(main)
