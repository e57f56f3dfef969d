"""Gold ids by id, history and code: the index finds what reading every concept would find."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.readers.xrefs import code_of
from spacy_medlink.kb.resolve import IdResolver, _spelled, _spellings, find_ids
from spacy_medlink.types import Concept, Name, Retired
from tests.tiny import kb_of

_PARTS = st.sampled_from(["A", "B", "A:1", "1", "2", "MSH:1", "MESH:2", "MIM:1", "OMIM:2", "A:B:1"])
_VOCABULARIES = st.sampled_from(["A", "MSH", "OMIM", "MIM"])
_CODES = st.dictionaries(_VOCABULARIES, st.lists(_PARTS, max_size=2).map(tuple), max_size=2)


@settings(max_examples=30)
@given(st.dictionaries(_PARTS, _CODES, min_size=1), st.sampled_from(["", "MSH", "A"]))
def test_the_index_finds_what_reading_all_would_find(tmp_path_factory, concepts, scheme):
    path = tmp_path_factory.mktemp("resolve") / "a.kb"
    records = [Concept(id, id, (Name(id),), codes=codes) for id, codes in concepts.items()]
    kb = kb_of(path, [*records, Retired("OLD:1", records[0].id, "merged")])
    resolver = IdResolver(kb, scheme)
    for id in ["A", "B", "1", "2", "A:1", "MSH:1", "MESH:1", "OMIM:1", "A:B:1", "OLD:1", "none"]:
        assert resolver.rows(id) == _by_reading_all(kb, id, scheme), id


def _by_reading_all(kb: KnowledgeBase, id: str, scheme: str) -> set[int]:
    split = code_of(id)
    wanted = f"{_spelled(scheme)}:{split[1] if split else id}" if scheme else ""
    wanted = wanted or (":".join(split) if split else id)
    rows = {row for row, own, codes in kb.iter_codes() if wanted in _spellings(own, codes)}
    if not scheme:
        spellings = (id, split[1]) if split else (id,)
        rows |= {kb.row_of(found) for one in spellings if (found := kb.resolve(one)) is not None}
    return rows


def test_codes_are_read_once_however_many_ids_are_asked_for(tiny_kb, monkeypatch):
    reads = []
    every = KnowledgeBase.iter_codes

    def counted(kb):
        reads.append(kb)
        return every(kb)

    monkeypatch.setattr(KnowledgeBase, "iter_codes", counted)
    resolver = IdResolver(tiny_kb)
    diabetes = frozenset({tiny_kb.row_of("HP:0005978")})
    for id in ("HP:0005978", "HP:0005965", "C0011860", "UMLS:C0011860", "ICD10CM:E11", "E11"):
        assert resolver.rows(id) == diabetes
    assert resolver.find("C9999999") is None and resolver.rows("nothing") == frozenset()
    assert len(reads) == 1


@pytest.mark.parametrize("way", ["own", "history", "code"])
def test_ways(tiny_kb, way):
    id = {"own": "HP:0005978", "history": "HP:0005965", "code": "C0011860"}[way]
    assert find_ids(tiny_kb, [id, "unknown"]).keys() == {id}
    assert find_ids(tiny_kb, [id])[id].way == way
