from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.kb import KnowledgeBase, browse, build_kb
from spacy_medlink.kb.browse import near_names, one_edit_away
from spacy_medlink.types import Concept, Name

NAMES = {
    "A:1": ("Diabetes mellitus", "Sugar diabetes"), "A:2": ("Hypertension", "Hypertensions"),
    "A:3": ("Hypotension",), "A:4": ("Fever", "Fièvre"), "A:5": ("Sjögren syndrome",),
}  # fmt: skip


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    path = tmp_path_factory.mktemp("near") / "near.kb"
    concepts = (Concept(id, own[0], tuple(map(Name, own))) for id, own in NAMES.items())
    build_kb(path, concepts, {})
    return KnowledgeBase(path)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("diabtes melitus", "Diabetes mellitus"), ("HYPERTENTION", "Hypertension"),
        ("fevr", "Fever"), ("Sjogren syndrom", "Sjögren syndrome"), (" fiebre ", ""),
        ("di", ""), ("", ""), ("x" * 10_000, ""), ("🙂🙂🙂", ""),
    ],
)  # fmt: skip
def test_misspelled_names(kb: KnowledgeBase, text: str, name: str) -> None:
    found = near_names(kb, text)
    assert (found[0][1] if found else "") == name


def test_each_concept_comes_once_the_most_similar_first(kb: KnowledgeBase) -> None:
    found = near_names(kb, "Hypertensio")
    assert [concept.id for concept, _ in found] == ["A:2", "A:3"]
    assert found[0][1] == "Hypertension"
    assert len(near_names(kb, "Hypertensio", limit=1)) == 1


def test_a_large_terminology_is_not_read_through(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fixed number of look-ups, whatever its size."""
    monkeypatch.setattr(browse, "_SCANNED", 3)
    monkeypatch.setattr(KnowledgeBase, "iter_texts", lambda self: pytest.fail("reads all names"))
    assert [name for _, name in near_names(kb, "hypertentsion")] == ["Hypertension"]
    assert [name for _, name in near_names(kb, "fevre")] == ["Fever"]
    assert near_names(kb, "diabtes melitus") == [], "two edits are too many"


@given(st.text(alphabet="abcd é", min_size=1, max_size=6), st.data())
def test_one_edit(text: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.sampled_from("abz "))
    rest = text[place + 1 :]
    edits = {
        text[:place] + rest,
        text[:place] + letter + rest,
        text[:place] + letter + text[place:],
    }
    if rest:
        edits.add(text[:place] + rest[0] + text[place] + rest[1:])
    assert edits - {text} <= one_edit_away(text)
    assert text not in one_edit_away(text)
    assert len(one_edit_away(text)) <= 2 * 36 * (len(text) + 1)


def test_the_file_is_only_read(kb: KnowledgeBase) -> None:
    before = Path(kb.path).read_bytes()
    near_names(kb, "fevr")
    assert Path(kb.path).read_bytes() == before
