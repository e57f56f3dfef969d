"""Settings of faiss indices: for the build, for the search, and for a search with a filter.

An index may be wrapped in others: in a rotation of the vectors ("OPQ96,..."), and in a refinement
("...,RFlat"), which scores the proposals of a compressed index again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeGuard

import faiss

from ..types import Floats2d
from .mask import Mask

# Chosen on 185,193 names; `python -m benchmarks.kb WORK --index SPEC --task dense` tries others.
_EF_CONSTRUCTION = 80
_EF_SEARCH = 256
_PROBES, _SHARE = 64, 16  # lists to read: at least so many, or one of so many
_K_FACTOR = 8
# From so many lists on, a graph of their centroids finds the list of a vector faster than comparing
# with all. In 98 of 100 cases it is the nearest one, and the index finds as much.
_MANY_LISTS = 1024
_CENTROID_LINKS, _CENTROID_EF = 32, 32


untyped_faiss: Any = faiss
"""faiss without its type stubs, which lag behind."""


class SearchSettings(NamedTuple):
    """The search settings of an index; 0 where the kind of index has no such setting.

    ef_search (int): candidates that HNSW keeps. nprobe (int): lists that IVF reads.
    k_factor (int): a refinement scores this many times the wanted names.
    """

    ef_search: int = 0
    nprobe: int = 0
    k_factor: int = 0

    @classmethod
    def of(cls, index: faiss.Index) -> "SearchSettings":
        """Read the settings of an index."""
        graph, lists, refined = graph_of(index), _lists(index), _refined(index)
        return cls(
            int(graph.efSearch) if graph else 0,
            int(lists.nprobe) if lists else 0,
            int(refined.k_factor) if refined else 0,
        )


def prepare(index: faiss.Index) -> None:
    """Set the build settings, before vectors are added."""
    graph = graph_of(index)
    if graph is not None:
        graph.efConstruction = _EF_CONSTRUCTION


def train(index: faiss.Index, vectors: Floats2d) -> None:
    """Train an index; the vectors of many lists find theirs through a graph.

    RAISES (RuntimeError): when faiss refuses, for example too few vectors.
    """
    lists = _lists(index)
    if not _has_many(lists):
        index.train(vectors)
        return
    graph = _centroid_graph(lists.d)  # faiss does not hold it
    lists.clustering_index = graph
    try:
        index.train(vectors)
    finally:
        lists.clustering_index = None  # type: ignore[assignment]  # faiss has none at first


@contextmanager
def finding_lists_fast(index: faiss.Index) -> Iterator[None]:
    """Find the lists of vectors through a graph while they are added, where there are many lists.

    A search compares with all lists: that is exact, and takes less than reading the lists.
    """
    lists = _lists(index)
    if not _has_many(lists):
        yield
        return
    exact = lists.quantizer
    graph = _centroid_graph(lists.d)
    graph.add(faiss.downcast_index(exact).reconstruct_n(0, lists.nlist))
    lists.quantizer = graph
    try:
        yield
    finally:
        lists.quantizer = exact


def _has_many(lists: faiss.IndexIVF | None) -> TypeGuard[faiss.IndexIVF]:
    """Whether an IVF index compares vectors with the centroids of many lists."""
    return (
        lists is not None
        and lists.nlist >= _MANY_LISTS
        and lists.metric_type == faiss.METRIC_INNER_PRODUCT
        and isinstance(faiss.downcast_index(lists.quantizer), faiss.IndexFlat)
    )


def _centroid_graph(dim: int) -> faiss.IndexHNSWFlat:
    graph = faiss.IndexHNSWFlat(dim, _CENTROID_LINKS, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efConstruction, graph.hnsw.efSearch = _EF_CONSTRUCTION, _CENTROID_EF
    return graph


def tune(index: faiss.Index, settings: SearchSettings, keep: bool = False) -> None:
    """Set the search settings, and let an IVF index find a vector by its row.

    settings (SearchSettings): 0 takes the default; with `keep` it leaves the setting as it is.
    """
    graph, lists, refined = graph_of(index), _lists(index), _refined(index)
    if graph is not None and (settings.ef_search or not keep):
        graph.efSearch = settings.ef_search or _EF_SEARCH
    if lists is not None:
        # A refinement finds vectors by row itself.
        if not keep and refined is None:
            lists.make_direct_map()
        if settings.nprobe or not keep:
            probes = settings.nprobe or max(_PROBES, lists.nlist // _SHARE)
            lists.nprobe = min(probes, lists.nlist)
    if refined is not None and (settings.k_factor or not keep):
        refined.k_factor = settings.k_factor or _K_FACTOR


def restricted(index: faiss.Index, mask: Mask) -> faiss.SearchParameters | None:
    """Make the faiss parameters of a search within a mask; None where faiss has none."""
    selector = untyped_faiss.IDSelectorBitmap(mask.bits)
    within: faiss.SearchParameters | None = _restricted(index, mask, selector)
    return within


def _restricted(index: faiss.Index, mask: Mask, selector: faiss.IDSelector) -> Any:
    index = faiss.downcast_index(index)
    if isinstance(index, faiss.IndexRefine):
        inner = _restricted(index.base_index, mask, selector)
        return inner and untyped_faiss.IndexRefineSearchParameters(
            k_factor=index.k_factor, base_index_params=inner
        )
    if isinstance(index, faiss.IndexPreTransform):
        inner = _restricted(index.index, mask, selector)
        return inner and untyped_faiss.SearchParametersPreTransform(index_params=inner)
    if isinstance(index, faiss.IndexIVF):
        return untyped_faiss.SearchParametersIVF(sel=selector, nprobe=index.nprobe)
    if isinstance(index, faiss.IndexHNSW):
        # The walk also meets names outside the mask: it must go further.
        wider = index.hnsw.efSearch * max(1, mask.size // max(1, mask.count))
        return untyped_faiss.SearchParametersHNSW(sel=selector, efSearch=wider)
    if isinstance(index, faiss.IndexFlat | faiss.IndexScalarQuantizer):
        return untyped_faiss.SearchParameters(sel=selector)
    return None


def _core(index: faiss.Index) -> faiss.Index:
    """Get the index inside refinement and rotation."""
    index = faiss.downcast_index(index)
    if isinstance(index, faiss.IndexRefine):
        return _core(index.base_index)
    return _core(index.index) if isinstance(index, faiss.IndexPreTransform) else index


def graph_of(index: faiss.Index) -> faiss.HNSW | None:
    """Get the graph of an HNSW index, or of one inside others; None where there is none."""
    core = _core(index)
    return core.hnsw if isinstance(core, faiss.IndexHNSW) else None


def _lists(index: faiss.Index) -> faiss.IndexIVF | None:
    core = _core(index)
    return core if isinstance(core, faiss.IndexIVF) else None


def _refined(index: faiss.Index) -> faiss.IndexRefine | None:
    index = faiss.downcast_index(index)
    return index if isinstance(index, faiss.IndexRefine) else None
