"""OverlaidAssets: assets with an overlay, as if the knowledge base had been built with it."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..kb.curation import Curation, Rule
from ..kb.overlay import OverlaidKb, Overlay
from ..retrieval.added import AddedNames
from ..retrieval.exact import ExactIndex
from ..retrieval.facets import Facets
from ..retrieval.memory import MentionMemory, Remembered, memory_key
from ..retrieval.tier import Tier
from ..retrieval.word_ngram import WordNgramIndex
from ..types import Data, Encoder, Facts
from .assets import Assets, loaded_once
from .parts import make_memory

if TYPE_CHECKING:  # faiss and torch are loaded where there is a dense tier or a reranker
    from ..encoders.cross_encoder import CrossEncoder
    from ..retrieval.dense import DenseIndex


def _of_base(name: str) -> Any:
    return property(attrgetter(f"base.{name}"))


class OverlaidAssets(Assets):
    """Assets with an overlay; the files and the built indices are those of the base.

    base (Assets): without the overlay. curation (Curation): the rules.
    remembered (Sequence[Remembered]): corrections; they have priority over those of the assets.
    """

    def __init__(
        self, base: Assets, curation: Curation, remembered: Sequence[Remembered] = ()
    ) -> None:
        self.__dict__.update(base.__dict__)
        self.parts: Data = {}
        self.base, self.curation, self.remembered = base, curation, remembered
        self.overlay = Overlay.of(curation, base.kb)

    def __getstate__(self) -> Data:
        return {"base": self.base, "curation": self.curation, "remembered": self.remembered}

    def __setstate__(self, state: Facts) -> None:
        # Unpickling applies the overlay again.
        OverlaidAssets.__init__(self, **state)

    def reload(self) -> "OverlaidAssets":
        """Open the current assets at the path, with the same overlay; see `Assets.reload`."""
        return OverlaidAssets(self.base.reload(), self.curation, self.remembered)

    def move(self, device: str) -> "OverlaidAssets":
        """Run networks on another device from now on. RETURNS itself."""
        self.base.move(device)
        self.device = self.base.device
        return self

    def added_names(self) -> AddedNames | None:
        """Make the index of the added names; None where the overlay changes no name."""
        overlay = self.overlay
        if not overlay.added and not overlay.dropped:
            return None
        return AddedNames(overlay.names, self.base.kb.n_names, overlay.dropped)

    @property
    @loaded_once
    def kb(self) -> OverlaidKb:
        """The knowledge base with the changes of the overlay."""
        return OverlaidKb(self.base.kb, self.overlay)

    @property
    @loaded_once
    def name_concept(self) -> NDArray[np.int32]:
        """Concept row of every name row, ascending, then those of the added names."""
        if not self.overlay.added:
            return self.base.name_concept  # mapped, where a copy would take memory
        added = np.array([concept for concept, _ in self.overlay.added], dtype=np.int32)
        return np.concatenate([self.base.name_concept, added])

    # The files belong to the base: these tiers lack the added names.
    exact: ExactIndex = _of_base("exact")
    ngram: WordNgramIndex = _of_base("ngram")
    dense: "DenseIndex" = _of_base("dense")
    encoder: Encoder = _of_base("encoder")
    reranker: "CrossEncoder | None" = _of_base("reranker")

    def tier(self, name: str) -> Tier:
        """Open a tier of the base."""
        return self.base.tier(name)

    @property
    @loaded_once
    def facets(self) -> Facets:
        """The properties by which names and concepts are filtered and ordered."""
        return self.base.facets.with_names(
            [(name.lang, name.source) for _, name in self.overlay.added]
        )

    @property
    def memory_lines(self) -> list[Remembered]:
        """The lines of the memory of corrections, without those that the overlay contradicts."""
        corrected = {line.key for line in self.remembered}
        kept = (line for line in self.base.memory_lines if line.key not in corrected)
        return [*(line for line in kept if not self._contradicts(line)), *self.remembered]

    @property
    @loaded_once
    def memory(self) -> MentionMemory | None:
        """The memory of corrections; None where there are none."""
        if not (self.remembered or self.has("memory")):
            return None
        return make_memory(self.memory_lines, self.kb)

    @cached_property
    def _rules(self) -> Mapping[str, list[Rule]]:
        """The rules about names, by the key of the memory."""
        by_key: dict[str, list[Rule]] = {}
        for rule in self.overlay.rules:
            by_key.setdefault(memory_key(rule.name), []).append(rule)
        return by_key

    def _contradicts(self, line: Remembered) -> bool:
        """Tell whether the overlay, which is newer, contradicts a line of the memory."""
        return line.id in self.overlay.retired or any(
            _contradicts(rule, line.id) for rule in self._rules.get(line.key, ())
        )


def _contradicts(rule: Rule, id: str) -> bool:
    """Tell whether a rule contradicts that mentions like its name mean `id`, "" for no concept."""
    if rule.action == "deny":
        return bool(id) and rule.id in ("", id)
    if rule.action == "force":
        return rule.id != id
    return rule.action == "add" and not id
