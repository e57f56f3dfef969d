"""NameFacts: what the names of a dictionary are labelled, and which concepts they are of."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..held import Directory, held
from ..retrieval.arrays import check, check_below, damaged, load_arrays, save_arrays

if TYPE_CHECKING:
    from ..assets import Assets

GROUP, TYPE = "group", "type"
LABELLINGS = (GROUP, TYPE)
_LABELS = "labels.json"


class NameFacts:
    """Labels and concepts of names, by row.

    label (NDArray[uint16]): of each name, a position in `labels`; (n_names,). concept
        (NDArray[int32]): row of the concept of each name, (n_names,). labels (Sequence[str]): the
        first one is "", of what has none. by (Optional[str]): what they are, as for `of`.
    """

    def __init__(
        self,
        label: NDArray[np.uint16],
        concept: NDArray[np.int32],
        labels: Sequence[str],
        by: str | None,
    ) -> None:
        self._label, self._concept, self._labels = label, concept, labels
        self.by = by

    @classmethod
    def of(cls, assets: "Assets", by: str | None) -> "NameFacts":
        """Read the facts of the names of assets.

        by (Optional[str]): what names are labelled by: the semantic "group" or "type" of their
            concepts, of several the first one in the alphabet; None for no labels.
        """
        from ..kb.semantic_groups import GROUPS

        kinds: dict[str, Sequence[str]] = {}
        if by == GROUP:
            kinds = {group: members.split() for group, members in GROUPS.items()}
        elif by == TYPE:
            kinds = {type: [type] for type in sorted(assets.facets.types)}
        labels = [""]
        of_concept = np.zeros(len(assets.kb), dtype=np.uint16)
        for kind, types in sorted(kinds.items(), reverse=True):
            own = assets.facets.concepts_of_types(types)
            if own.any():
                of_concept[own] = len(labels)
                labels.append(kind)
        concept = assets.kb.name_concepts().astype(np.int32)
        return cls(of_concept[concept], concept, labels, by)

    def save(self, directory: Path) -> None:
        """Write the arrays and the labels into a directory."""
        save_arrays(directory, {"label": self._label, "concept": self._concept})
        (directory / _LABELS).write_text(self._described, encoding="utf-8")

    @classmethod
    def load(cls, directory: Directory) -> "NameFacts":
        """Map the arrays of a directory.

        RAISES (MedlinkError): E202 when one is missing or damaged.
        """
        label, concept = load_arrays(directory, label=np.uint16, concept=np.int32)
        try:
            described = json.loads(held(directory, _LABELS).read())
            labels, by = described["labels"], described["by"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise damaged(directory, _LABELS, error) from error
        if type(labels) is not list or by not in (None, *LABELLINGS):
            raise damaged(directory, _LABELS, "something else than labels")
        check(directory, "concept", len(concept) == len(label), "not as many as labels")
        check_below(directory, "label", label, len(labels))
        return cls(label, concept, labels, by)

    def to_bytes(self) -> bytes:
        """Pack all into bytes (an .npz)."""
        buffer = io.BytesIO()
        described = np.array(self._described)
        np.savez(buffer, described=described, label=self._label, concept=self._concept)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> "NameFacts":
        """Unpack what `to_bytes` wrote."""
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            described = json.loads(arrays["described"].item())
            return cls(arrays["label"], arrays["concept"], described["labels"], described["by"])

    def label(self, rows: Sequence[int]) -> str:
        """Tell the label of names that one mention may be: of the first that has one; or ""."""
        numbers = (int(self._label[row]) for row in rows)
        return self._labels[next(filter(None, numbers), 0)]

    def count_concepts(self, rows: Sequence[int]) -> int:
        """Count the concepts that names are of."""
        return len(set(self._concept[list(rows)].tolist()))

    @property
    def _described(self) -> str:
        return json.dumps({"labels": self._labels, "by": self.by})
