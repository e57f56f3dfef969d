"""Which names each concept has: own names, copies from other sources, names of other concepts."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchmarks.synthetic.draws import Bits, Flags, Ints, bits, draw, scatter, zipf_counts
from benchmarks.synthetic.words import CORE_BITS, STYLES, Lexicon, lexicon

CONCEPT, NAME, ROW, OTHER = 1, 2, 3, 4  # streams of random numbers


@dataclass(frozen=True)
class NameBlock:
    """Names of a run of concepts. Arrays are (n,), in the order of the names' numbers.

    number (Ints): the name's number in the release. concept (Ints): whose name it is.
    source (Ints): number of the name it repeats, or its own: equal up to case if this is equal.
    style (Ints): how it is capitalised: equal strings if source and style are equal.
    language (Ints): position in the lexicon's languages.
    recased (Flags): it repeats the name before it in another case.
    random (Bits): random bits of the row. texts (list[str]): the names.
    """

    number: Ints
    concept: Ints
    source: Ints
    style: Ints
    language: Ints
    recased: Flags
    random: Bits
    texts: list[str]


class Names:
    """The names of a release. Nothing is kept but how many each concept has.

    concepts, total (int): number of concepts and of names. seed (int): the generator's seed.
    languages (int): how many. minimum (int): least number of names of a concept.
    first (int): number of concepts that other releases have named already.
    """

    def __init__(
        self,
        concepts: int,
        total: int,
        seed: int,
        languages: int,
        minimum: int = 1,
        first: int = 0,
    ) -> None:
        self.concepts = concepts
        self.first = first
        self.seed = seed
        counts = zipf_counts(total, concepts, minimum, seed)
        self.offsets: Ints = np.concatenate([[0], np.cumsum(counts)])
        self.lexicon: Lexicon = lexicon(languages)

    @cached_property
    def language_table(self) -> Ints:
        """Languages in proportion to their names, (4096,)."""
        weights = np.cumsum([language.weight for language in self.lexicon.languages])
        chances = np.arange(4096) * weights[-1] / 4096
        table: Ints = np.searchsorted(weights, chances, side="right")
        return table

    def core(self, concepts: Ints) -> Ints:
        """Give the head and site that a concept's names have in common, whatever the seed.

        concepts (Ints): concepts, (n,).
        RETURNS (Ints): one number for both, different for every concept, (n,).
        """
        return scatter(concepts + self.first, CORE_BITS, 0)

    def block(self, first: int, last: int) -> NameBlock:
        """Compose the names of the concepts from `first` up to `last`.

        first, last (int): concepts.
        RETURNS (NameBlock): their names.
        """
        start = self.offsets[first]
        number = np.arange(start, self.offsets[last])
        concept = np.repeat(np.arange(first, last), np.diff(self.offsets[first : last + 1]))
        random = draw(self.seed, ROW, number)
        is_first = number == self.offsets[concept]
        # One name in 18 repeats the one before it, as another source has it; half in other case.
        fresh = is_first | (bits(random, 0, 8) >= 14)
        before = np.maximum.accumulate(np.where(fresh, number, 0)) - start
        # One in 64 is the first name of some other concept: these names are ambiguous.
        borrowed = fresh & ~is_first & (bits(random, 8, 6) == 0)
        other = (draw(self.seed, OTHER, number) >> np.uint64(8)).astype(np.int64) % self.concepts
        owner = np.where(borrowed, other, concept)[before]
        source = np.where(borrowed, self.offsets[other], number)[before]
        return self._compose(number, concept, owner, source, fresh, random)

    def _compose(
        self,
        number: Ints,
        concept: Ints,
        owner: Ints,
        source: Ints,
        fresh: np.ndarray,
        random: Bits,
    ) -> NameBlock:
        name = draw(self.seed, NAME, source)
        place = source - self.offsets[owner]
        language = np.where(place == 0, 0, self.language_table[bits(name, 34, 12)])
        recased = ~fresh & (bits(random, 14, 1) == 1) & self.lexicon.cased[language]
        chance = bits(name, 26, 8)
        style = np.where(chance < 90, 0, np.where(chance < 220, 1, 2))
        style = (style + np.where(recased, 1 + bits(random, 15, 1), 0)) % STYLES
        style = np.where(self.lexicon.cased[language], style, 0)
        # Some synonyms share no word with the others: they have the core of no concept.
        alternate = (place > 0) & (bits(name, 46, 4) < 3)
        core = self.core(owner + np.where(alternate, 1 << (CORE_BITS - 1), 0))
        bits_of_owner = draw(self.seed, CONCEPT, owner)
        texts = self.lexicon.names(language, core, place, bits_of_owner, name, style)
        return NameBlock(number, concept, source, style, language, recased, random, texts)
