"""MedicalMentions, the `medical_mentions` component: finds the KB's names in text.

For pipelines without an NER: every n-gram of tokens is looked up in the memory-mapped exact tier,
and the longest ones found become entities. It finds what the terminology can say, no more.
"""

import re
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import SimpleFrozenList, filter_spans
from spacy.vocab import Vocab

from .component import PicklablePipe
from .dictionary import Choice, any_order_key, make_dictionary
from .errors import Errors
from .files import link_or_copy, replacing_directory
from .text import hash_keys, key

if TYPE_CHECKING:
    from .retrieval.exact import ExactIndex

_PARAGRAPH = re.compile(r"\n\s*\n")
DEFAULT_CONFIG: dict[str, Any] = {
    "assets": None,
    "label": "CONCEPT",
    "max_tokens": 8,
    "spans_key": None,
    "overwrite": False,
    "types": None,
    "languages": None,
    "deny": None,
    "branches": None,
    "stop": None,
    "any_order": False,
}


@Language.factory(
    "medical_mentions",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config=DEFAULT_CONFIG,
)
def make_medical_mentions(
    nlp: Language,
    name: str,
    assets: str | None,
    label: str,
    max_tokens: int,
    spans_key: str | None,
    overwrite: bool,
    types: list[str] | None,
    languages: list[str] | None,
    deny: list[str] | None,
    branches: list[str] | None,
    stop: list[str] | None,
    any_order: bool,
) -> "MedicalMentions":
    """Make a `medical_mentions`; see MedicalMentions for the settings."""
    return MedicalMentions(
        nlp.vocab,
        name,
        assets=assets,
        label=label,
        max_tokens=max_tokens,
        spans_key=spans_key,
        overwrite=overwrite,
        types=types,
        languages=languages,
        deny=deny,
        branches=branches,
        stop=stop,
        any_order=any_order,
    )


class MedicalMentions(PicklablePipe):
    """Finds names of the knowledge base in a Doc, longest match first.

    A match is a run of tokens whose key (`text.key`: case, punctuation and plural endings aside) is
    a name's. Stop words, lone digits and single letters never match; short upper-case names match
    only with the same case.

    assets (Optional[str]): as for medical_linker; None for the built-in starter.
    label (str): label of the entities. max_tokens (int): longest match, punctuation not counted.
    spans_key (Optional[str]): write `doc.spans[spans_key]` (overlaps kept) instead of `doc.ents`.
    overwrite (bool): drop existing entities that overlap with a match, instead of keeping them.
    types, languages, deny (Optional[List[str]]): find only names of concepts of these types or
        semantic groups, names of these languages, and no names of concepts with these ids.
    branches (Optional[List[str]]): find only names of concepts at or below these ids; such as
        ["HP:0000118"], phenotypic abnormalities, since modifiers like "severe" are concepts too.
    stop (Optional[List[str]]): texts that are never mentions, however they are inflected.
    any_order (bool): find names by their words in any order, too: "malformations of the kidney" for
        "kidney malformation".
    RAISES (MedlinkError): E302 for max_tokens below 1; when the dictionary is opened, E106 for a
        branch that there is not, E162 and E213 for an unknown type, group or language.
    """

    def __init__(
        self,
        vocab: Vocab,
        name: str = "medical_mentions",
        *,
        assets: str | Path | None = None,
        label: str = "CONCEPT",
        max_tokens: int = 8,
        spans_key: str | None = None,
        overwrite: bool = False,
        types: Sequence[str] | None = None,
        languages: Sequence[str] | None = None,
        deny: Sequence[str] | None = None,
        branches: Sequence[str] | None = None,
        stop: Sequence[str] | None = None,
        any_order: bool = False,
    ) -> None:
        if max_tokens < 1:
            raise Errors.bad_setting(name="max_tokens", value=max_tokens, rule="must be at least 1")
        self.vocab = vocab
        self.name = name
        self.source = None if assets is None else str(assets)
        self.label = label
        self.max_tokens = max_tokens
        self.spans_key = spans_key
        self.overwrite = overwrite
        self.stop = frozenset(map(key, stop or ()))
        self.choice = Choice(
            tuple(types or ()),
            tuple(languages or ()),
            tuple(deny or ()),
            tuple(branches or ()),
            any_order,
        )
        self._exact: ExactIndex | None = None
        self._path: Path | None = None
        self._unpacked = False  # whether the exact tier came as bytes
        self._lock = threading.Lock()

    @property
    def exact(self) -> "ExactIndex":
        """The exact tier, opened at the first use.

        RAISES (MedlinkError): E201-E204, E305 when it cannot be.
        """
        if self._exact is None:
            with self._lock:
                if self._exact is None:
                    self._exact = self._open()
        return self._exact

    def __call__(self, doc: Doc) -> Doc:
        """Find the mentions of one Doc, in place."""
        error_handler = self.get_error_handler()
        try:
            self.set_annotations(doc, self.find(doc))
        except Exception as error:
            error_handler(self.name, self, [doc], error)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Find the mentions of a stream of Docs; those that fail go to the error handler alone."""
        for doc in stream:
            try:
                self.set_annotations(doc, self.find(doc))
            except Exception as error:
                self.get_error_handler()(self.name, self, [doc], error)
                continue
            yield doc

    def find(self, doc: Doc) -> list[Span]:
        """Find all matches, overlapping ones too, without changing the Doc."""
        # Punctuation has no key and takes no part: "type-2" and "type 2" are one.
        parts = [_part(token.text) for token in doc]
        places = [index for index, (part, _) in enumerate(parts) if part]
        words = [parts[index][0] for index in places]
        grams, ends = _grams(words, self.max_tokens)
        found = self.exact.find(hash_keys(grams))
        for number, index in enumerate(places):
            if parts[index][1] or doc[index].is_stop:
                found[number] = -1  # the grams of one word come first
        spans = []
        for gram in np.flatnonzero(found >= 0).tolist():
            length = bisect_right(ends, gram) + 1
            first = gram - (ends[length - 2] if length > 1 else 0)
            span = Span(doc, places[first], places[first + length - 1] + 1, label=self.label)
            if not _PARAGRAPH.search(span.text) and self.exact.rows_of(int(found[gram]), span.text):
                spans.append(span)
        if self.choice.any_order:
            spans += self._in_any_order(doc, {(span.start, span.end) for span in spans})
        if self.stop:
            spans = [span for span in spans if key(span.text) not in self.stop]
        return sorted(spans, key=lambda span: (span.start, span.end))

    def _in_any_order(self, doc: Doc, found: set[tuple[int, int]]) -> list[Span]:
        """Find what is a name's words in another order, within a clause."""
        places, keys = [], []
        for start, end in _clause_grams(doc, self.max_tokens):
            if (start, end) not in found:
                own = any_order_key(token.text for token in doc[start:end])
                if own:
                    places.append((start, end))
                    keys.append(own)
        hits = np.flatnonzero(self.exact.find(hash_keys(keys)) >= 0).tolist()
        return [Span(doc, places[hit][0], places[hit][1], label=self.label) for hit in hits]

    def set_annotations(self, doc: Doc, spans: Sequence[Span]) -> None:
        """Write the matches to `doc.spans[spans_key]`, or the longest ones to `doc.ents`."""
        if self.spans_key is not None:
            doc.spans[self.spans_key] = spans
            return
        if self.overwrite:
            chosen = filter_spans(spans)
            taken = {token.i for span in chosen for token in span}
            kept = [ent for ent in doc.ents if not any(token.i in taken for token in ent)]
        else:
            kept = list(doc.ents)
            taken = {token.i for ent in kept for token in ent}
            free = [span for span in spans if not any(token.i in taken for token in span)]
            chosen = filter_spans(free)
        doc.set_ents(sorted([*kept, *chosen], key=lambda span: span.start))

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Any]],
        *,
        nlp: Language | None = None,
        assets: str | Path | None = None,
    ) -> None:
        """Open the dictionary; `assets` replaces the source, as for medical_linker."""
        if assets is not None:
            self.source = str(assets)
            self._exact = self._path = None
            self._unpacked = False
        _ = self.exact

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()) -> None:
        """Save the dictionary (the exact tier's arrays), whole or not at all.

        RAISES (MedlinkError): E109 when it cannot be written.
        """
        if "exact" not in exclude:
            # Beside, not in place: these may be the very files that are mapped.
            with replacing_directory(Path(path) / "exact") as directory:
                self._save(directory)

    def from_disk(
        self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> "MedicalMentions":
        """Load the dictionary from a directory; its arrays are mapped where they are.

        RAISES (MedlinkError): E202 when it is not whole.
        """
        if "exact" not in exclude:
            from .retrieval.exact import ExactIndex

            self._path, self._unpacked = Path(path) / "exact", False
            self._exact = ExactIndex.load(self._path)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = SimpleFrozenList()) -> bytes:
        """Save the dictionary as bytes."""
        return b"" if "exact" in exclude else self.exact.to_bytes()

    def from_bytes(
        self, data: bytes, *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> "MedicalMentions":
        """Load the dictionary from bytes."""
        if "exact" not in exclude and data:
            from .retrieval.exact import ExactIndex

            self._path, self._exact = None, ExactIndex.from_bytes(data)
            self._unpacked = True
        return self

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_lock"]
        exact = state.pop("_exact")
        # Otherwise it is opened again by path: children then share the mapped pages.
        if exact is not None and self._unpacked:
            state["_bytes"] = exact.to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        data = state.pop("_bytes", None)
        self.__dict__.update(state)
        self._lock = threading.Lock()
        self._exact = None
        if data is not None:
            self.from_bytes(data)

    def _save(self, directory: Path) -> None:
        exact = self.exact
        if self._path is None:
            exact.save(directory)
            return
        for file in sorted(self._path.iterdir()):  # large ones should not go through memory
            link_or_copy(file, directory / file.name)

    def _open(self) -> "ExactIndex":
        if self._path is not None:
            from .retrieval.exact import ExactIndex

            return ExactIndex.load(self._path)
        from .sources import open_assets

        assets = open_assets(self.source)
        if self.source is not None and not any(self.choice):
            self._path = assets.path / "exact"
        return make_dictionary(assets, self.choice)


def _clause_grams(doc: Doc, longest: int) -> Iterator[tuple[int, int]]:
    """List the runs of two words and more that begin and end in one that says something."""
    ends = [(token.is_punct and token.text != "-") or "\n" in token.text for token in doc]
    says = [not (token.is_stop or token.is_punct or token.is_space) for token in doc]
    for start in (place for place, one in enumerate(says) if one):
        for last in range(start + 1, min(start + longest, len(doc))):
            if ends[last]:
                break
            if says[last]:
                yield start, last + 1


def _grams(words: Sequence[str], longest: int) -> tuple[list[str], list[int]]:
    """Join each word with those after it: first all single words, then all pairs, and so on.

    RETURNS (Tuple[List[str], List[int]]): the grams, and how many there are up to each length.
    """
    own = list(words)
    grams: list[str] = []
    ends: list[int] = []
    for length in range(1, longest + 1):
        if length > 1:
            own = [f"{gram} {word}" for gram, word in zip(own, words[length - 1 :], strict=False)]
        grams += own
        ends.append(len(grams))
    return grams, ends


@lru_cache(maxsize=65536)
def _part(text: str) -> tuple[str, bool]:
    """Make the key of a token, and tell whether alone it is too little to be a mention."""
    part = key(text)
    return part, len(part) < 2 or part.replace(" ", "").isdigit()
