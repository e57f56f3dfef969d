"""OverlaidAssets: assets with rules, as if the knowledge base had been built with them."""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from ..kb.overlay import OverlaidKb
from ..kb.rules import MEANS, UNKNOWN_ID, Rule, Rules
from ..retrieval.added import AddedNames
from ..retrieval.facets import Facets
from ..retrieval.memory import MentionMemory, Remembered, memory_key
from ..retrieval.tier import Tier
from ..types import Data, Facts
from .assets import Assets, loaded_once
from .parts import make_memory

_SHARED = frozenset({"exact", "ngram", "dense", "encoder", "reranker"})


class OverlaidAssets(Assets):
    """Assets with rules; the files and the built indices are those of the base.

    base (Assets): without the rules. rules (Rules): go before the memory of the assets.
    overlay (OverlaidKb): the knowledge base with the rules.
    """

    def __init__(self, base: Assets, rules: Rules) -> None:
        self.__dict__.update(base.__dict__)
        self.base, self.rules = base, rules
        self.overlay = OverlaidKb(base.kb, rules)
        self.parts: Data = {"kb": self.overlay}

    def __getstate__(self) -> Data:
        return {"base": self.base, "rules": self.rules}

    def __setstate__(self, state: Facts) -> None:
        # Unpickling applies the rules again.
        OverlaidAssets.__init__(self, **state)

    def reload(self) -> "OverlaidAssets":
        """Open the current assets at the path, with the same rules; see `Assets.reload`."""
        return OverlaidAssets(self.base.reload(), self.rules)

    def move(self, device: str) -> "OverlaidAssets":
        """Run networks on another device from now on. RETURNS itself."""
        self.base.move(device)
        self.device = self.base.device
        return self

    def holder(self, part: str) -> Assets:
        """Get the assets that hold a part; what lacks the added names is the base's."""
        return self.base if part in _SHARED else self

    def tier(self, name: str) -> Tier:
        """Open a tier of the base."""
        return self.base.tier(name)

    def added_names(self) -> AddedNames | None:
        """Make the index of the added names; None where the rules change no name."""
        texts, dropped = [name.text for _, name in self.overlay.added], self.overlay.dropped
        return AddedNames(texts, self.base.kb.n_names, dropped) if texts or dropped else None

    @property
    @loaded_once
    def name_concept(self) -> NDArray[np.int32]:
        """Concept row of every name row, ascending, then those of the added names."""
        if not self.overlay.added:
            return self.base.name_concept  # mapped, where a copy would take memory
        added = np.array([concept for concept, _ in self.overlay.added], dtype=np.int32)
        return np.concatenate([self.base.name_concept, added])

    @property
    @loaded_once
    def facets(self) -> Facets:
        """The properties by which names and concepts are filtered and ordered."""
        return self.base.facets.with_names(
            [(name.lang, name.source) for _, name in self.overlay.added]
        )

    @property
    @loaded_once
    def memory_lines(self) -> list[Remembered]:
        """The lines that the rules, which are newer, leave of the memory, and their own."""
        by_key, said = defaultdict[str, list[Rule]](list), list[Remembered]()
        for rule in self.overlay.rules.rules:
            key = memory_key(rule.name)
            by_key[key].append(rule)
            if rule.action == MEANS and rule.no_effect != UNKNOWN_ID:
                labels = dict.fromkeys((rule.label, ""))
                said += [Remembered(key, label, rule.id, 1, 1) for label in labels]
        kept = [
            line
            for line in self.base.memory_lines
            if line.id not in self.overlay.retired_ids
            and not any(rule.contradicts(line.id) for rule in by_key[line.key])
        ]
        return kept + said

    @property
    @loaded_once
    def memory(self) -> MentionMemory | None:
        """What mentions mean; None where nothing says so."""
        lines = self.memory_lines
        return make_memory(lines, self.kb) if lines or self.has("memory") else None
