"""The code blocks of Markdown pages."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
# A comment on the line before a block says why it is not run.
_NOT_RUN = re.compile(r"<!-- not run: (.+?) -->")
_FENCE = re.compile(r"```(.*)")


class Block(NamedTuple):
    """A code block.

    line (int): of its fence, from 1. not_run (str): why it cannot run here, "" when it can.
    """

    page: Path
    line: int
    language: str
    text: str
    not_run: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    def commands(self) -> list[list[str]]:
        """Split a block of commands into their words; a backslash continues a line."""
        lines = self.text.replace("\\\n", " ").splitlines()
        split = (shlex.split(line, comments=True) for line in lines)
        return [words for words in split if words]


def blocks_of(page: Path) -> list[Block]:
    """List the code blocks of a page."""
    blocks, reason = [], ""
    lines = iter(enumerate(page.read_text(encoding="utf-8").splitlines(), 1))
    for number, line in lines:
        fence = _FENCE.fullmatch(line)
        if fence is None:
            found = _NOT_RUN.fullmatch(line.strip())
            reason = found[1] if found else reason if not line.strip() else ""
            continue
        inside = []
        for _, own in lines:
            if own == "```":
                break
            inside.append(own)
        blocks.append(Block(page, number, fence[1].strip(), "\n".join(inside) + "\n", reason))
        reason = ""
    return blocks
