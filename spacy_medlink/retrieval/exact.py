"""ExactIndex: finds the names whose key equals the mention's, by its hash in mapped arrays.

Different strings can have the same hash, so every name found is then compared with the mention.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import xxhash
from numpy.typing import NDArray

from ..text.normalisation import hash_keys, is_short_form, key, plainly_written, surface_check
from ..text.word_forms import NO_FORMS, Forms
from ..types import Array, Hashes1d, Hits
from ..util.hashes import positions
from .arrays import (
    check,
    check_below,
    check_offsets,
    damaged,
    load_arrays,
    save_arrays,
)
from .known_words import KnownWords
from .mask import Mask
from .name_texts import NameTexts, TextsOf
from .names_read import NamesRead
from .vocabulary import Vocabulary

SAME_STRING = 1.0  # letter case does not count
IN_CAPITALS = 0.99  # the same, but the mention looks like a short form, and the name does not
SAME_KEY = 0.95
_MAX_ROWS = 64
_PROBES = 100
_REMEMBERED = 1 << 15  # keys whose names are remembered
_FORMS = "forms"
_FEW = 64  # hashes that are looked up faster without a sieve
_SIEVE_BITS, _MOST_SIEVED = 21, 1 << 20  # 2 MB, and half of it full at the most keys
_SIEVE_SHIFT = np.uint64(64 - _SIEVE_BITS)
_PAIR = np.dtype([("hash", np.int64), ("row", np.uint32)])


class ExactIndex:
    """Names by key hash (`text.key`): case, accents, punctuation and plural endings do not count.

    A short upper-case name matches only a mention in the same case. Names are there by their words
    in any order, too (`text.any_order`). Arrays, all memory-mapped: `hash` (n_keys,) uint64
    ascending; `start` (n_keys + 1,) uint32 into the other two; `row` (n_entries,) uint32 name rows,
    at most two entries a name; `check` (n_entries,) uint32 (`text.surface_check`).

    texts (TextsOf): gives the names of rows, for the comparison. vocabulary (Vocabulary): the words
        of the names, among which misspelt words are looked for. forms (Forms): of these words, as
        they count in keys of words in any order.
    """

    def __init__(
        self,
        hash: Hashes1d,
        start: NDArray[np.uint32],
        row: NDArray[np.uint32],
        check: NDArray[np.uint32],
        texts: TextsOf,
        vocabulary: Vocabulary,
        forms: Forms = NO_FORMS,
    ) -> None:
        self._hash, self._start, self._row, self._check = hash, start, row, check
        self._texts, self.vocabulary, self.forms = texts, vocabulary, forms
        self._names: dict[int, dict[int, str]] = {}  # read so far, by the position of their key
        self._known_words: dict[str, KnownWords] = {}  # by the language of texts

    @classmethod
    def build(
        cls,
        lookup: Iterable[tuple[int, int]],
        names: Iterable[str],
        texts: TextsOf | None = None,
        forms: Forms = NO_FORMS,
    ) -> "ExactIndex":
        """Build from a knowledge base; takes 80 bytes a name at most, and its words.

        lookup (Iterable): (signed hash, name row), sorted by signed hash (`kb.lookup_table()`).
        names (Iterable[str]): the text of every name, in the order of rows.
        texts (Optional[TextsOf]): gives the names by row (`kb.texts_at`); without it they are kept
            in memory. forms (Forms): of the words of names.
        """
        if texts is None:
            names = list(names)
            texts = _from_list(names)
        read = NamesRead(forms)
        checks = np.fromiter(map(surface_check, read.passing(names)), dtype=np.uint32)
        pairs = np.fromiter(lookup, dtype=_PAIR)
        more_hashes, more_rows = read.in_any_order
        hashes = np.concatenate([pairs["hash"].view(np.uint64), more_hashes])
        rows = np.concatenate([pairs["row"], more_rows])
        del pairs, more_hashes, more_rows
        order = np.argsort(hashes, kind="stable")
        hashes, rows = hashes[order], rows[order]
        del order
        vocabulary = Vocabulary.of(read.uses, read.spellings)
        is_new = np.ones(len(hashes), dtype=np.bool_)
        np.not_equal(hashes[1:], hashes[:-1], out=is_new[1:])
        start = np.append(np.flatnonzero(is_new), len(hashes)).astype(np.uint32)
        hashes = hashes[is_new]
        return cls(hashes, start, rows, checks[rows], texts, vocabulary, forms)

    def save(self, directory: Path) -> None:
        """Write the arrays into a directory."""
        save_arrays(directory, self._arrays)

    def save_names(self, directory: Path) -> None:
        """Write the names too, for a dictionary without a knowledge base."""
        save_arrays(directory, NameTexts.of(self._row, self._texts).arrays)

    @classmethod
    def load(
        cls, directory: Path, n_names: int | None = None, texts: TextsOf | None = None
    ) -> "ExactIndex":
        """Map the arrays of a directory.

        n_names (Optional[int]): number of names. texts (Optional[TextsOf]): gives the names;
            default: the names saved in the directory.
        RAISES (MedlinkError): E202 when one is missing or damaged.
        """
        hashes, start, row, checks = load_arrays(
            directory, hash=np.uint64, start=np.uint32, row=np.uint32, check=np.uint32
        )
        check(directory, "start", len(start) == len(hashes) + 1, f"not {len(hashes)} keys")
        check_offsets(directory, "start", start, len(row))
        check(directory, "check", len(checks) == len(row), f"not {len(row)} names")
        check(directory, "hash", bool((hashes[1:] > hashes[:-1]).all()), "does not ascend")
        if n_names is not None:
            check_below(directory, "row", row, n_names)
        texts = texts or NameTexts.load(directory)
        if texts is None:
            raise damaged(directory, "name_text", "is missing")
        vocabulary, forms = Vocabulary.load(directory), _loaded_forms(directory)
        return cls(hashes, start, row, checks, texts, vocabulary, forms)

    def fingerprint(self) -> str:
        """Make a fingerprint of the index: equal ones find the same."""
        digest = xxhash.xxh3_128()
        for array in self._arrays.values():
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def known_words(self, lang: str) -> KnownWords:
        """Get the words of texts in a language, as the names know them."""
        if lang not in self._known_words:
            words = KnownWords(self.find, self.vocabulary, self.forms, lang)
            self._known_words.setdefault(lang, words)
        return self._known_words[lang]

    def find(self, hashes: Hashes1d) -> NDArray[np.int64]:
        """Find keys by hash. RETURNS (n,): position of the key, -1 where there is none."""
        sieve = self._sieve
        if sieve is None or len(hashes) < _FEW:
            return positions(self._hash, hashes)
        maybe = np.flatnonzero(sieve[hashes >> _SIEVE_SHIFT])
        places: NDArray[np.int64] = np.full(len(hashes), -1, dtype=np.int64)
        places[maybe] = positions(self._hash, hashes[maybe])
        return places

    @cached_property
    def _sieve(self) -> NDArray[np.bool_] | None:
        """Whether any key has the first bits of a hash, since most runs of a text are no names."""
        if len(self._hash) > _MOST_SIEVED:
            return None
        sieve = np.zeros(1 << _SIEVE_BITS, dtype=np.bool_)
        sieve[self._hash >> _SIEVE_SHIFT] = True
        return sieve

    def rows_of(self, position: int, text: str) -> list[tuple[int, float]]:
        """List (name row, score) for a key and the mention as it is written, best first."""
        wanted = key(text)
        scored = [
            (row, score)
            for row, name in self.names_at(position).items()
            if (name == text or key(name) == wanted) and (score := likeness(name, text))
        ]
        return sorted(scored, key=_best_first) if len(scored) > 1 else scored

    def names_at(self, position: int) -> dict[int, str]:
        """Get the names at a key by row, whatever their case; a few may have another key.

        They are shared with later calls: do not change them.
        """
        kept = self._names
        if (names := kept.get(position)) is None:
            rows = self._row[int(self._start[position]) : int(self._start[position + 1])].tolist()
            names = dict(zip(rows, self._texts(rows), strict=True))
            if len(kept) > _REMEMBERED:
                kept = self._names = {}
            kept[position] = names
        return names

    @property
    def rows(self) -> NDArray[np.uint32]:
        """Rows of the names in the index; a row may occur several times."""
        return self._row

    def is_of(self, text_at: Callable[[int], str], n_names: int) -> bool:
        """Tell, by a sample, whether the index was built from these names.

        text_at (Callable[[int], str]): the text of a name by its row. n_names (int): all names.
        """
        step = max(1, len(self._row) // _PROBES)
        probes = zip(self._row[::step].tolist(), self._check[::step].tolist(), strict=True)
        return all(row < n_names and surface_check(text_at(row)) == check for row, check in probes)

    def search(self, texts: Sequence[str], k: int = _MAX_ROWS, mask: Mask | None = None) -> Hits:
        """Find the names with the same key; `likeness` scores them.

        texts (Sequence[str]): mentions. k (int): at most so many names each.
        mask (Optional[Mask]): the names that may be answers; None for all.
        RETURNS (Hits): (n_texts, widest), best first, then by row; padded with -1 and -inf.
        """
        positions = self.find(hash_keys(map(key, texts))).tolist()
        found = [
            self.rows_of(position, text) if position >= 0 else []
            for position, text in zip(positions, texts, strict=True)
        ]
        if mask is not None:
            found = [[pair for pair in pairs if pair[0] in mask] for pairs in found]
        return _padded([pairs[:k] for pairs in found])

    @property
    def _arrays(self) -> dict[str, Array]:
        arrays: dict[str, Array] = {
            "hash": self._hash, "start": self._start, "row": self._row, "check": self._check,
            _FORMS: np.frombuffer(json.dumps(dict(self.forms)).encode(), dtype=np.uint8),
        }  # fmt: skip
        return arrays | self.vocabulary.arrays


def likeness(name: str, text: str) -> float:
    """Score a name with the key of a text, 0..1. Letter case counts for short forms alone."""
    if name == text:
        return SAME_STRING
    name, text = plainly_written(name), plainly_written(text)
    if name == text:
        return SAME_STRING
    if is_short_form(name):
        return 0.0
    if name.casefold() != text.casefold():
        return SAME_KEY
    return IN_CAPITALS if is_short_form(text) else SAME_STRING


def _loaded_forms(directory: Path) -> Forms:
    """Read the forms of words, JSON in bytes. RAISES (MedlinkError): E202 for anything else."""
    (encoded,) = load_arrays(directory, **{_FORMS: np.uint8})
    try:
        forms = json.loads(encoded.tobytes())
        if type(forms) is not dict or not all(type(form) is str for form in forms.values()):
            raise ValueError("something else than forms of words")
    except (ValueError, RecursionError) as error:
        raise damaged(directory, f"{_FORMS}.npy", error) from error
    return forms


def _from_list(names: Sequence[str]) -> TextsOf:
    return lambda rows: [names[row] for row in rows]


def _best_first(pair: tuple[int, float]) -> tuple[float, int]:
    row, score = pair
    return -score, row


def _padded(found: Sequence[Sequence[tuple[int, float]]]) -> Hits:
    """Lay names and scores of each text out in a rectangle."""
    shape = len(found), max(map(len, found), default=0)
    rows = np.full(shape, -1, dtype=np.int64)
    scores = np.full(shape, -np.inf, dtype=np.float32)
    for index, pairs in enumerate(found):
        for column, (row, score) in enumerate(pairs):
            rows[index, column], scores[index, column] = row, score
    return Hits(rows, scores)
