"""Trade names: the brand names of a substance, added to the names of the substance."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from ....types import Name
from .conso import read_atoms
from .select import Row
from .sources import Kinds

TTY = "TRADE"


class TradeNames:
    """Gives a substance the names of its brands.

    brands (Mapping[str, Sequence[str]]): CUIs of substances to CUIs of their brands.
    rows (Iterable[Row]): rows of MRCONSO, at least those of the brands. kinds (Kinds): the kinds
        of the rows.
    """

    def __init__(
        self, brands: Mapping[str, Sequence[str]], rows: Iterable[Row], kinds: Kinds
    ) -> None:
        self._brands = brands
        self._names: dict[str, list[Name]] = {}
        wanted = {cui for cuis in brands.values() for cui in cuis}
        for cui, atoms in groupby(rows, key=itemgetter(0)):
            if cui in wanted:
                names, _ = read_atoms(atoms, kinds)
                self._names[cui] = [name._replace(tty=TTY) for name in names if not name.obsolete]

    def __contains__(self, cui: str) -> bool:
        return cui in self._brands

    def added_to(self, cui: str, names: Sequence[Name]) -> tuple[Name, ...]:
        """Append the names of a substance's brands to its names, where they are new."""
        known = {(name.text, name.lang) for name in names}
        more = [
            name
            for brand in self._brands[cui]
            for name in self._names.get(brand, ())
            if (name.text, name.lang) not in known
        ]
        return (*names, *dict.fromkeys(more))
