"""Counts of what a conversion left out or changed, and why."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from spacy_medlink.errors import Errors

SHOWN = 10  # examples of each fault


class Fault(NamedTuple):
    """A place where a corpus violates its format."""

    path: Path
    line: int
    detail: str


class Tally:
    """Counts of one conversion.

    strict (bool): stop at the first fault. Drops and notes follow a rule and never stop anything.
    show_text (bool): quote the documents in faults, although they may be private.
    """

    def __init__(self, strict: bool = False, show_text: bool = False) -> None:
        self.strict = strict
        self.show_text = show_text
        self.documents = 0
        self.mentions = 0
        self.nil = 0
        self.splits: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self.noted: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.examples: dict[str, list[Fault]] = {}

    def drop(self, what: str, count: int = 1) -> None:
        """Count something that a rule leaves out."""
        self.dropped[what] += count

    def note(self, what: str, count: int = 1) -> None:
        """Count something that a rule changes."""
        self.noted[what] += count

    def fault(
        self, problem: str, path: Path, line: int = 0, detail: str = "", text: str = ""
    ) -> None:
        """Count something that is wrong with the corpus.

        problem (str): its kind. detail (str): the case, without the document's words.
        text (str): the document's words, shown only on request.
        RAISES (MedlinkError): E403 when strict.
        """
        if self.show_text and text:
            detail = f"{detail}: {text}" if detail else text
        if self.strict:
            told = f"{problem} ({detail})" if detail else problem
            raise Errors.gold_mismatch(path=path, line=line, problem=told)
        self.faults[problem] += 1
        examples = self.examples.setdefault(problem, [])
        if len(examples) < SHOWN:
            examples.append(Fault(path, line, detail))

    def report(self) -> Iterator[str]:
        """List the counts as readable lines."""
        splits = ", ".join(f"{name or 'no split'} {n:,}" for name, n in self.splits.items())
        yield f"{self.documents:,} documents ({splits or 'none'})"
        yield f"{self.mentions:,} mentions, of which {self.nil:,} are NIL"
        for title, counts in (("kept", self.noted), ("dropped", self.dropped)):
            for what, count in counts.most_common():
                yield f"  {title}: {count:,} {what}"
        for problem, count in self.faults.most_common():
            yield f"  fault: {count:,} {problem}"
            for example in self.examples[problem]:
                where = (
                    f"{example.path}, line {example.line}" if example.line else f"{example.path}"
                )
                yield f"    {where}{': ' if example.detail else ''}{example.detail}"
