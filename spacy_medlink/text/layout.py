"""Layout: tags, exports, forms and cells, written as the lines that a person would type.

All rules read the text that `laid_out` returns. It has the length of the original, character by
character, so that a place in one is the same place in the other: what is left of a tag is FILL.
FORMS lists what is recognised, each with an example; what no row knows stays as it is.
"""

import html
import re
from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial
from itertools import groupby
from typing import NamedTuple

from .json_layout import json_lines
from .lines import joined_lines
from .marks import ANSWER, FILL, FULL, WORDS, padded, sign_of

_RANK = {  # how much a tag parts; one of XML that is not here parts cells
    **dict.fromkeys(
        "a abbr acronym b bdi bdo big cite code em font i ins kbd label mark q s samp small span "
        "strike strong sub sup tt u var".split(),
        0,
    ),
    **dict.fromkeys("td th dt dd".split(), 1),
    **dict.fromkeys("br tr li ul ol dl table thead tbody tfoot option select input".split(), 2),
    **dict.fromkeys(
        "p div section article body html head form fieldset hr pre blockquote header footer main "
        "caption style script meta link center nav img col colgroup text title h h1 h2 h3 h4 h5 "
        "h6".split(),
        3,
    ),
}
_BORDERS = ("", "|", "\n", "\n\n")  # by rank
_TAILS = {"li": "- ", **dict.fromkeys("title h h1 h2 h3 h4 h5 h6".split(), "# ")}
_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]*)((?:\s[^<>]*)?/?)>|<!--[^<>]*-->|<[!?][^<>]*>")
_CLOSING = re.compile(r"</([A-Za-z][\w:.-]*)\s*>")
_TAGS = re.compile(rf"(?:{_TAG.pattern})(?:\s*(?:{_TAG.pattern}))*")
_SHOWN = re.compile(r"\bdisplayName\s*=\s*[\"']([^\"'<>]+)[\"']")
_CHECKED = re.compile(r"\bchecked\b")
_BOLD = re.compile(
    r"<(b|strong)>([^<>\n]{2,60})</\1>(?=\s*(?:<br|</p|</div|<p[ >]|\n\s*\n))", re.IGNORECASE
)
_ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}|#\d{1,5}|#[xX][\dA-Fa-f]{1,4});")
_EMPHASIS = re.compile(
    r"(?<![\w*_])(\*\*|__|\*|_)(?=[^\s*_])([^*\n]{1,150}?)(?<=[^\s*_])\1(?![\w*])"
)
_BOLD_LINE = re.compile(r"^(?:\*\*|__)(?=[^\W\d_])([^*\n:]{2,60})(?:\*\*|__)[ \t]*$", re.MULTILINE)
_QUOTED = re.compile(r"^[ \t]*(?:>[ \t]?)+(?=\S)", re.MULTILINE)
_UNDERLINE = re.compile(r"(?<=\S)\n([=-])\1{2,}[ \t]*$", re.MULTILINE)
_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t:-]*)+$", re.MULTILINE)
_BOX_SIGNS = "☐□◻☑☒■✓✔"
_BOX = rf"(?:\[[ _]?\]|\([ _]?\)|[{_BOX_SIGNS}]|{FULL})"
_OPTION = rf"(?:{_BOX}[ \xa0]?(?:{WORDS})(?!\w)|(?<!\w)(?:{WORDS})[ \xa0]?{_BOX})"
_OPTIONS = re.compile(rf"(?<=[\w)?])[ \t:]*{_OPTION}(?:[ \t,/;|]*{_OPTION})+", re.IGNORECASE)
_ANY_BOX = re.compile(r"[\[(][ _xX✓✔]?[\])]")  # or a sign, which is a box of its own
_CHOICE = re.compile(rf"(?P<box>{_BOX})|(?P<word>{WORDS})", re.IGNORECASE)
_FULL = re.compile(FULL)
_TABS = re.compile(r"(?<=[^\s:.*•>|-])[ \t]*\t[ \t]*(?=\S)")
_SPACES = re.compile(r"(?<=[^\s:]) {2,}(?=\S)")
_ANSWERED = re.compile(rf"(?<! ) {{2,}}(?:{ANSWER})(?= {{2,}}|[ \t]*$)", re.IGNORECASE)
_RECORD = re.compile(r'(?:"[^"\n]*"|[^",;|\n]{0,80})(?:([,;])(?! )(?:"[^"\n]*"|[^",;|\n]{0,80}))+')
_FIELD = re.compile(r'"[^"\n]*"|[,;]')
_IS_RECORD = re.compile(rf'[,;]"?(?:{ANSWER})"?(?=[,;\r\n]|$)', re.IGNORECASE)
_CODES, _ABBREVIATED = frozenset(("true", "false")), 6
_MARKS = frozenset("x ✓ ✔ ● •".split())
_STATUS = frozenset("resolved suspected possible probable inactive remote excluded".split())


class Form(NamedTuple):
    """A way to write what is said.

    signs (Tuple[str, ...]): one of these is in each text that has it. read (Callable): gives the
    text of the same length. written, plain (str): an example, and what it is without its FILL.
    """

    name: str
    signs: tuple[str, ...]
    read: Callable[[str], str]
    written: str
    plain: str


def laid_out(text: str) -> str:
    """Write a text with its layout as lines; the same length, and the same words at their places.

    A second reading changes nothing, but for the ends of lines that grew.
    """
    text = joined_lines(text)
    for form in FORMS:
        if any(map(text.__contains__, form.signs)):
            text = form.read(text)
    return text


def _without_tags(text: str) -> str:
    known = _RANK.keys() | {name.lower() for name in _CLOSING.findall(text)}
    text = _BOLD.sub(_as_heading, text)
    return _TAGS.sub(lambda run: _border(run[0], known), text)


def _as_heading(bold: re.Match[str]) -> str:
    before, behind = bold.start(2) - bold.start(), bold.end() - bold.end(2)
    return f"<h{' ' * (before - 3)}>{bold[2]}</h{' ' * (behind - 4)}>"


def _border(run: str, known: Set[str]) -> str:
    """Write a run of tags, with the white space between them, as one border."""
    rank, tail, before, shown = 0, "", "", None
    for tag in _TAG.finditer(run):
        slash, name, rest = tag[1], (tag[2] or "").lower(), (tag[3] or "").strip()
        if not name:
            continue
        if not (rest.endswith("/") or (name in known and (not rest or "=" in rest))):
            return run  # "<NAME>", "a <b and c> d"
        is_pair = not slash and before == "/" + name  # "</span><span>"
        rank = max(rank, _RANK.get(name, 1), int(is_pair))
        tail = "" if slash else _TAILS.get(name, "")
        if name == "input" and ("checkbox" in rest or "radio" in rest):
            tail = "[x]" if _CHECKED.search(rest) else "[ ]"
        before, shown = slash + name, _SHOWN.search(run, *tag.span()) or shown
    is_spaced = not rank and any(map(str.isspace, _TAG.sub("", run)))
    if shown:
        start, end = shown.span(1)
        return padded("\n", start) + run[start:end] + padded("\n", len(run) - end)
    if rank == 1:  # an answer stands near what it answers
        return "|" + FILL * (len(run) - 1)
    return padded(" " * is_spaced + _BORDERS[rank] + tail, len(run))


def _without_entities(text: str) -> str:
    """Decode spaces and signs of sentences; those within words are decoded by `Pieces`."""

    def plain(entity: re.Match[str]) -> str:
        sign = html.unescape(entity[0]).replace("\xa0", " ")
        is_sign = len(sign) == 1 and (sign.isspace() or sign in ",.:;?!()")
        return sign + FILL * (len(entity[0]) - 1) if is_sign else entity[0]

    return _ENTITY.sub(plain, text)


def _without_emphasis(text: str) -> str:
    text = _BOLD_LINE.sub(
        lambda line: "# " + line[1] + FILL * (len(line[0]) - len(line[1]) - 2), text
    )
    for _ in range(2):  # "***fever***"
        text = _EMPHASIS.sub(lambda it: FILL * len(it[1]) + it[2] + FILL * len(it[1]), text)
    return text


def _without_quotes(text: str) -> str:
    return _QUOTED.sub(lambda quoted: FILL * len(quoted[0]), text)


def _headed(text: str) -> str:
    return _UNDERLINE.sub(lambda line: ":\n" + FILL * (len(line[0]) - 2), text)


def _with_choices(text: str) -> str:
    has_box = any(map(text.__contains__, _BOX_SIGNS)) or _ANY_BOX.search(text)
    return _OPTIONS.sub(_chosen, text) if has_box else text


def _chosen(options: re.Match[str]) -> str:
    """Write a choice of yes and no, "[ ] Yes [x] No", as the answer that was ticked."""
    boxes, words = list[bool](), list[str]()
    for part in _CHOICE.finditer(options[0]):
        if part["box"]:
            boxes.append(_FULL.fullmatch(part["box"]) is not None)
        else:
            words.append(sign_of(part["word"]))
    ticked = {word for box, word in zip(boxes, words, strict=False) if box}
    sign = ticked.pop() if len(ticked) == 1 else "±"
    return f":{sign}" + FILL * (len(options[0]) - 2)


def _with_pipes(text: str) -> str:
    """Write tabs and columns of spaces around answers as pipes."""
    lines = text.split("\n")
    for row, line in enumerate(lines):
        if "\t" in line:
            lines[row] = line = _TABS.sub(lambda tabs: padded("|", len(tabs[0])), line)
        if "  " in line and _ANSWERED.search(line):
            lines[row] = _SPACES.sub(lambda gap: padded("|", len(gap[0])), line)
    return "\n".join(lines)


def _with_fields(text: str) -> str:
    """Write the commas of CSV as pipes: two lines and more of as many fields, with answers."""
    if not _IS_RECORD.search(text):
        return text
    lines = text.split("\n")
    counts = [_fields(line) for line in lines]
    for (count, sep), rows in groupby(range(len(lines)), counts.__getitem__):
        block = list(rows)
        if count and len(block) > 1 and any(_IS_RECORD.search(lines[row]) for row in block):
            for row in block:
                lines[row] = _FIELD.sub(partial(_field, sep), lines[row])
    return "\n".join(lines)


def _fields(line: str) -> tuple[int, str]:
    if not ("," in line or ";" in line):
        return 0, ""
    record = _RECORD.fullmatch(line.rstrip())
    return (len(re.findall(r'"[^"]*"|([,;])', line)), record[1]) if record else (0, "")


def _field(sep: str, found: re.Match[str]) -> str:
    field = found[0]
    return FILL + field[1:-1] + FILL if field[0] == '"' else "|" if field == sep else field


def _with_rows(text: str) -> str:
    """Write cells as lines, or as answers to the cell before them."""
    lines, marks = text.split("\n"), dict[int, str]()
    for row, line in enumerate(lines):
        if "|" not in line:
            marks = {}
            continue
        if _RULE.fullmatch(line):
            lines[row] = FILL * len(line)
            continue
        cells = list(_cells(line))
        signs = {number: sign_of(line[slice(*cell)]) for number, cell in enumerate(cells)}
        if {"+", "-"} <= set(signs.values()) and len(signs) > 2 and not marks:
            marks = {number: sign for number, sign in signs.items() if sign}
            if sum(bool(line[slice(*cell)].strip()) for cell in cells) - len(marks) < 2:
                lines[row] = line.replace("|", "\n")
                continue
        lines[row] = _row(line, cells, marks)
    return "\n".join(lines)


def _cells(line: str) -> Iterator[tuple[int, int]]:
    start = 0
    for cell in line.split("|"):
        yield start, start + len(cell)
        start += len(cell) + 1


def _row(line: str, cells: Sequence[tuple[int, int]], marks: dict[int, str]) -> str:
    """Write the cells of a line. marks (Dict[int, str]): what a cross in a column answers."""
    out, asked, first = list(line.replace("|", FILL)), "", -1
    end = 0  # of the cell before, `asked`
    for number, (start, stop) in enumerate(cells):
        value = line[start:stop].strip()
        if not value:
            continue
        lower = value.lower()
        sign = marks.get(number, "") if lower in _MARKS else sign_of(lower.partition(",")[0])
        if sign and asked:
            out[end] = ":"
            if len(value) == 1 or lower in _CODES:
                out[end + 1 : stop] = [sign, *FILL * (stop - end - 2)]
            asked = ""
            continue
        if first < 0:
            first = number
        else:
            is_heading = len(asked) < _ABBREVIATED and asked.isupper() and number == first + 1
            out[start - 1] = ":" if is_heading else FILL if lower in _STATUS else "\n"
            if out[start - 1] == "\n" and asked and asked[-1] != ":":
                out[start - 1] = "|"  # a cell, where `context.limits` end what a cue says
        asked, end = "" if lower in _STATUS else value, stop
    return "".join(out)


FORMS = (
    Form("tags", ("<",), _without_tags, "<td>Fever</td><td>No</td>", "|Fever|No|"),
    Form("headings", ("<",), _without_tags, "<h2>PMH</h2><li>Gout", "\n\n# PMH\n\n- Gout"),
    Form("entities", ("&",), _without_entities, "Fever:&nbsp;no", "Fever: no"),
    Form("json", ("{", "["), json_lines, '{"asthma": false, "gout": 1}', "asthma:-\n gout:+\n"),
    Form("emphasis", ("*", "_"), _without_emphasis, "**Denies:** *fever*", "Denies: fever"),
    Form("quotes", (">",), _without_quotes, "> no fever", "no fever"),
    Form("underlines", ("\n==", "\n--"), _headed, "PMH\n===\nGout", "PMH:\n\nGout"),
    Form("choices", ("[", "(", *_BOX_SIGNS), _with_choices, "Gout: [ ] Yes [x] No", "Gout:-"),
    Form("columns", ("\t", "  "), _with_pipes, "fever\tno", "fever|no"),
    Form("fields", (",", ";"), _with_fields, "asthma,no\ngout,yes", "asthma|no\ngout|yes"),
    Form("cells", ("|",), _with_rows, "| Fever | No | Cough |", " Fever : No \n Cough "),
)
