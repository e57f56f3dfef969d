"""What the kinds of faiss indices need: settings of build and search, searches with a filter."""

from typing import Any, NamedTuple

import faiss

from .mask import Mask

# Chosen on 185,193 names (benchmarks/results/indexes.md).
_EF_CONSTRUCTION = 80
_EF_SEARCH = 256
_PROBES = 32


class SearchSettings(NamedTuple):
    """How far a search goes; 0 where the kind of index has no such setting.

    ef_search (int): candidates that HNSW keeps in hand. nprobe (int): lists of IVF that are read.
    """

    ef_search: int = 0
    nprobe: int = 0

    @classmethod
    def of(cls, index: Any) -> "SearchSettings":
        """Read the settings of an index."""
        graph, lists = _graph(index), faiss.try_extract_index_ivf(index)
        return cls(int(graph.efSearch) if graph else 0, int(lists.nprobe) if lists else 0)


def prepare(index: Any) -> None:
    """Set what must be set before vectors are added."""
    graph = _graph(index)
    if graph is not None:
        graph.efConstruction = _EF_CONSTRUCTION


def tune(index: Any, settings: SearchSettings, keep: bool = False) -> None:
    """Set how far a search goes, and let an IVF index find a vector by its row.

    settings (SearchSettings): 0 takes the default, or with `keep` leaves the setting as it is.
    """
    graph, lists = _graph(index), faiss.try_extract_index_ivf(index)
    if graph is not None and (settings.ef_search or not keep):
        graph.efSearch = settings.ef_search or _EF_SEARCH
    if lists is not None:
        if not keep:
            lists.make_direct_map()
        if settings.nprobe or not keep:
            lists.nprobe = min(settings.nprobe or _PROBES, lists.nlist)


def restricted(index: Any, mask: Mask) -> Any:
    """Make the parameters of a search among the names of a mask; None where faiss has none."""
    makers: Any = faiss  # whose stubs lag behind
    selector = makers.IDSelectorBitmap(mask.bits)
    index = faiss.downcast_index(index)
    if isinstance(index, faiss.IndexIVF):
        return makers.SearchParametersIVF(sel=selector, nprobe=index.nprobe)
    if isinstance(index, faiss.IndexHNSW):
        # The walk meets names that may not be answers too: it must go further.
        wider = index.hnsw.efSearch * max(1, mask.size // max(1, mask.count))
        return makers.SearchParametersHNSW(sel=selector, efSearch=wider)
    if isinstance(index, faiss.IndexFlat | faiss.IndexScalarQuantizer):
        return makers.SearchParameters(sel=selector)
    return None


def _graph(index: Any) -> Any:
    index = faiss.downcast_index(index)
    return index.hnsw if isinstance(index, faiss.IndexHNSW) else None
