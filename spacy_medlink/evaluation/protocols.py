"""The protocols of the papers: ranks count names or entries, and composite mentions are split.

Names: BioSyn's preprocessing is applied, and each distinct string counts once; a name that several
concepts share is right if any of them is gold.

Entries: each name of each concept counts, as a line of a dictionary file does in the evaluations of
XL-BEL, COMETA and MedMentions (Liu et al. 2021, both papers); case and punctuation stay.

Composite mentions, "breast and ovarian cancer", after BioSyn (Sung et al., 2020, section 4.1): such
a mention is split by patterns, each part is looked up by itself, and the mention is right only if
all parts are. A part is right if it is any of the mention's ids, because annotations do not say
which id belongs to which part. A mention that cannot be split into as many parts as it has ids
stays whole.
"""

import re
import string

_PUNCTUATION = re.compile(f"[\\s{re.escape(string.punctuation)}]+")
_AND = re.compile(r"\s+(?:and/or|and|or|und|oder|y|e|o|et|ou)\s+", re.IGNORECASE)
_COMMA = re.compile(r"\s*,\s*")
_SLASH = re.compile(r"(?<=\w)\s?/\s?(?=\w)")
_OF = re.compile(r"(?P<head>.+?\s(?:of|de|von|des?|del)\s+(?:both\s+|the\s+)?)(?P<rest>.+)")


def paper_key(text: str) -> str:
    """Make the key by which the papers compare names: lower case, no punctuation."""
    return _PUNCTUATION.sub(" ", text.lower()).strip()


def split_composite(text: str, n_ids: int) -> list[str]:
    """Split a composite mention.

    text (str): the mention. n_ids (int): number of its concepts.
    RETURNS (List[str]): as many parts as ids; [text] for a mention without such a pattern.
    """
    if n_ids < 2:
        return [text]
    for parts in (_with_shared_head(text), _with_shared_tail(text), _slashed(text), text.split()):
        if len(parts) == n_ids and all(parts):
            return parts
    return [text]


def _with_shared_head(text: str) -> list[str]:
    """Split "cancer of the breast and ovary"."""
    match = _OF.match(text)
    if not match or not _AND.search(match["rest"]):
        return []
    return [match["head"] + part for part in _listed(match["rest"])]


def _with_shared_tail(text: str) -> list[str]:
    """Split "brain, breast, and prostate cancer"."""
    parts = _listed(text)
    if len(parts) < 2 or " " not in parts[-1]:
        return []
    first, last = parts[0].split(), parts[-1].split()
    # Modifiers are one word, unless they begin alike: "type 1 and type 2 diabetes".
    modifier_length = len(first) if first[0] == last[0] and len(first) < len(last) else 1
    stem = " ".join(last[modifier_length:])
    return [f"{part} {stem}" for part in parts[:-1]] + [parts[-1]]


def _slashed(text: str) -> list[str]:
    """Split "renal/hepatic failure"."""
    words = text.split(" ")
    places = [at for at, word in enumerate(words) if _SLASH.search(word)]
    if len(places) != 1:
        return []
    before, after = words[: places[0]], words[places[0] + 1 :]
    return [" ".join([*before, part, *after]) for part in _SLASH.split(words[places[0]])]


def _listed(text: str) -> list[str]:
    parts = [part for piece in _COMMA.split(text) for part in _AND.split(f" {piece}")]
    return [part.strip() for part in parts if part.strip()]
