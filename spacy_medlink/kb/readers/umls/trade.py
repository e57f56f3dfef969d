"""Trade names: what the brands of a substance are called, as names of the substance."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from ....types import Name
from .conso import read_atoms
from .rrf import Row
from .sources import Kinds

TTY = "TRADE"


class TradeNames:
    """Gives a substance the names of its brands.

    brands (Mapping[str, Sequence[str]]): CUIs of substances to CUIs of their brands.
    rows (Iterable[Row]): rows of MRCONSO, at least those of the brands. kinds (Kinds): what the
        rows mean.
    """

    def __init__(
        self, brands: Mapping[str, Sequence[str]], rows: Iterable[Row], kinds: Kinds
    ) -> None:
        self._brands = brands
        self._names: dict[str, list[Name]] = {}
        wanted = {cui for cuis in brands.values() for cui in cuis}
        for cui, atoms in groupby(rows, key=itemgetter(0)):
            if cui in wanted:
                names = read_atoms(atoms, kinds).names
                self._names[cui] = [name._replace(tty=TTY) for name in names if not name.obsolete]

    def added_to(self, cui: str, names: Sequence[Name]) -> tuple[Name, ...]:
        """Append the names of the brands to the names of a concept, where they are new to it."""
        known = {(name.text, name.lang) for name in names}
        more = [
            name
            for brand in self._brands.get(cui, ())
            for name in self._names.get(brand, ())
            if (name.text, name.lang) not in known
        ]
        return (*names, *dict.fromkeys(more))
