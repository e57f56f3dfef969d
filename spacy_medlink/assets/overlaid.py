"""OverlaidAssets: assets with an overlay, as if the knowledge base had been built with it."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ..kb.curation import Curation, Rule
from ..kb.overlay import OverlaidKb, Overlay
from .assets import Assets
from .layout import FACETS, MEMORY, NAME_CONCEPT
from .parts import make_memory

if TYPE_CHECKING:  # these import faiss and scipy, which are loaded at their first use
    import numpy as np
    from numpy.typing import NDArray

    from ..encoders.cross_encoder import CrossEncoder
    from ..linking.tiers import NgramTier
    from ..retrieval.added import AddedNames
    from ..retrieval.dense import DenseIndex
    from ..retrieval.exact import ExactIndex
    from ..retrieval.facets import Facets
    from ..retrieval.memory import MentionMemory, Remembered
    from ..types import Encoder


def _of_base(name: str) -> Any:
    return property(attrgetter(f"base.{name}"))


class OverlaidAssets(Assets):
    """Assets with an overlay; the files and the built indices are those of the base.

    base (Assets): without the overlay. curation (Curation): the rules.
    remembered (Sequence[Remembered]): corrections; they have priority over those of the assets.
    """

    def __init__(
        self, base: Assets, curation: Curation, remembered: "Sequence[Remembered]" = ()
    ) -> None:
        self.__dict__.update(base.__dict__)
        self._parts: dict[str, Any] = {}
        self.base, self.curation, self.remembered = base, curation, remembered
        self.overlay = Overlay.of(curation, base.kb)

    def __getstate__(self) -> dict[str, Any]:
        return {"base": self.base, "curation": self.curation, "remembered": self.remembered}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
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

    def added_names(self) -> "AddedNames | None":
        """Make the index of the added names; None where the overlay changes no name."""
        from ..retrieval.added import AddedNames

        overlay = self.overlay
        if not overlay.added and not overlay.dropped:
            return None
        return AddedNames(overlay.names, self.base.kb.n_names, overlay.dropped)

    @property
    def kb(self) -> OverlaidKb:
        """The knowledge base with the changes of the overlay."""
        return self._part("kb", lambda: OverlaidKb(self.base.kb, self.overlay))

    @property
    def name_concept(self) -> "NDArray[np.int32]":
        """Concept row of every name row, ascending, then those of the added names."""
        return self._part(NAME_CONCEPT, self._all_concepts)

    # The files belong to the base: these tiers lack the added names.
    exact: "ExactIndex" = _of_base("exact")
    ngram: "NgramTier" = _of_base("ngram")
    dense: "DenseIndex" = _of_base("dense")
    encoder: "Encoder" = _of_base("encoder")
    reranker: "CrossEncoder | None" = _of_base("reranker")

    @property
    def facets(self) -> "Facets":
        """The properties by which names and concepts are filtered and ordered."""
        return self._part(FACETS, lambda: self.base.facets.with_names(self._names))

    @property
    def memory_lines(self) -> "list[Remembered]":
        """The lines of the memory of corrections, without those that the overlay contradicts."""
        corrected = {line.key for line in self.remembered}
        kept = (line for line in self.base.memory_lines if line.key not in corrected)
        return [*(line for line in kept if not self._contradicts(line)), *self.remembered]

    @property
    def memory(self) -> "MentionMemory | None":
        """The memory of corrections; None where there are none."""
        if not self.remembered:
            return super().memory
        return self._part(MEMORY, lambda: make_memory(self.memory_lines, self.kb))

    @property
    def _names(self) -> "list[tuple[str, str]]":
        return [(name.lang, name.source) for _, name in self.overlay.added]

    def _all_concepts(self) -> "NDArray[np.int32]":
        import numpy as np

        own = np.array([concept for concept, _ in self.overlay.added], dtype=np.int32)
        return np.concatenate([self.base.name_concept, own]) if len(own) else self.base.name_concept

    @cached_property
    def _rules(self) -> "Mapping[str, list[Rule]]":
        """The rules about names, by the key of the memory."""
        from ..retrieval.memory import memory_key

        found: dict[str, list[Rule]] = {}
        for rule in self.overlay.rules:
            found.setdefault(memory_key(rule.name), []).append(rule)
        return found

    def _contradicts(self, line: "Remembered") -> bool:
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
