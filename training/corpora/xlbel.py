"""XL-BEL (Liu et al. 2021): 1,000 mentions in each of ten languages, UMLS CUIs.

v0.0 has `CUI||mention`, v1.0 `CUI||mention||sentence` with the mention between `<tgt>` and
`</tgt>`. The file's name begins with the language. The file of all languages is skipped if there
are files of single languages.
"""

from collections.abc import Iterator
from pathlib import Path

from .formats.text import read_lines
from .ids import split_ids
from .layout import files_of
from .records import Document, Mention
from .tally import Tally

_EXPECTED = "files like fi_1k_test_query.txt or fi_1k_test_query_with_context.txt"
_PATTERN = r"[a-z]+_1k_test_query(_with_context)?\.txt"
_OPEN, _CLOSE = "<tgt>", "</tgt>"


def read(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the mentions, each as a document; all are for testing."""
    files = list(files_of(source, _PATTERN, "xl-bel", _EXPECTED))
    by_lang = [path for path in files if _language(path) != "all"]
    for path in by_lang or files:
        for line_number, line in read_lines(path, tally):
            if line.strip():
                yield from _document(line, path, line_number, tally)


def _language(path: Path) -> str:
    return path.name.split("_")[0].lower()


def _document(line: str, path: Path, line_number: int, tally: Tally) -> Iterator[Document]:
    cui, _, rest = line.partition("||")
    mention_text, _, sentence = rest.partition("||")
    if not mention_text.strip():
        tally.fault("lines without a mention", path, line_number)
        return
    text, start = _unmarked(sentence)
    spans = ((start, start + len(mention_text.strip())),) if start >= 0 else ()
    if text and not spans:
        tally.fault("sentences without a marked mention", path, line_number)
    mention = Mention(mention_text.strip(), spans, split_ids(cui, "|"), line=line_number)
    lang = _language(path)
    yield Document(
        "", text or None, (mention,), path, "und" if lang == "all" else lang, "test", line_number
    )


def _unmarked(sentence: str) -> tuple[str, int]:
    """Remove the marks. RETURNS the text, and the start of the first mention, -1 without one."""
    before, mark, after = sentence.partition(_OPEN)
    if not mark or _CLOSE not in after:
        return sentence, -1
    after = after.replace(_OPEN, "").replace(_CLOSE, "")
    lead = len(after) - len(after.lstrip())
    return before + after, len(before) + lead
