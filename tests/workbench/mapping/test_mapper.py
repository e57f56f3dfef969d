"""What concepts are to terms: by names, the hierarchy, and codes."""

from dataclasses import replace

from spacy_medlink.kb import build_knowledge_base
from spacy_medlink.linking import Linker
from spacy_medlink.retrieval.memory import MentionMemory, Remembered
from spacy_medlink.text.lexicon import Lexicon
from spacy_medlink.types import CodeMap
from spacy_medlink.workbench.mapping.codes import _between
from spacy_medlink.workbench.mapping.mapper import Mapper
from spacy_medlink.workbench.mapping.terms import Term, terms_of
from tests.tables import table


def _matches(linker: Linker, term: Term) -> list[tuple[str, str]]:
    (mapping,) = Mapper(linker).map([term])
    return [(one.name, one.match) for one in (*mapping.targets, *mapping.others)]


def test_names_and_hierarchy(linker):
    found = dict(_matches(linker, Term("sugar diabetes")))
    assert found["Diabetes mellitus"] == "exact"
    assert found["Type II diabetes mellitus"] == "narrower"
    found = dict(_matches(linker, Term("TYPE 2 DIABETES")))
    assert found["Type II diabetes mellitus"] == "exact"
    assert found["Diabetes mellitus"] == "broader"
    assert found.get("Type I diabetes mellitus", "related") == "related"
    first, *others = _matches(linker, Term("high blod pressure"))
    assert first == ("Hypertension", "close")
    assert {match for _, match in others} == {"related"}


def test_only_what_is_remembered_of_a_term_is_exact(linker):
    row_of = {"HP:0001945": linker.parts.kb.row_of("HP:0001945")}
    memory = MentionMemory.of([Remembered("hot", "", "HP:0001945", 1, 1)], row_of)
    linker = linker.with_parts(memory=memory)
    assert _matches(linker, Term("hot"))[0] == ("Fever", "exact")
    _, *others = _matches(linker, Term("TYPE 2 DIABETES"))
    assert others and "exact" not in {match for _, match in others}


def test_a_name_is_exact_where_a_lexicon_led_to_another_one(linker, tmp_path):
    path = tmp_path / "lexicon.tsv"
    path.write_text("sugar diabetes\tDiabetes mellitus\n", encoding="utf-8")
    linker = linker.with_parts(lexicon=Lexicon.read(path))
    assert _matches(linker, Term("sugar diabetes"))[0] == ("Diabetes mellitus", "exact")


def test_codes_go_first(linker):
    term = Term("sugar problem", "E11", codes=(CodeMap("ICD-10-CM", "E11", "exact"),))
    assert _matches(linker, term)[0] == ("Type II diabetes mellitus", "close")
    named = term._replace(name="Type 2 diabetes")
    assert _matches(linker, named)[0] == ("Type II diabetes mellitus", "exact")
    for code in (CodeMap("LOCAL", "E11", "exact"), CodeMap("ICD10CM", "0005978", "exact")):
        # The same code of another vocabulary is another code.
        assert _matches(linker, Term("qqqq", codes=(code,))) == []


@table(__file__, "relations_of_a_shared_code")
def test_relations_of_a_shared_code(to_term, to_concept, expected):
    assert _between(to_term, to_concept) == expected


def test_equal_names_are_linked_once(linker, monkeypatch):
    asked: list[str] = []
    own = Linker.decide

    def decide(self: Linker, mentions: list, *rest: object) -> list:  # type: ignore[type-arg]  # a spy
        asked.extend(one.text for one in mentions)
        return own(self, mentions, *rest)  # type: ignore[arg-type]  # a spy

    monkeypatch.setattr(Linker, "decide", decide)
    Mapper(linker).map([Term("fever", "1"), Term("fever", "2"), Term("asthma", "3")])
    assert asked == ["fever", "asthma"]


def test_context_is_given_to_the_linker(linker):
    mention = Mapper(linker)._mention(Term("PE", context=("", "lung", "V/Q scan")), "PE")
    assert (mention.text, mention.right) == ("PE", "\nlung; V/Q scan")


def test_another_knowledge_base(linker, tmp_path):
    kb = linker.parts.kb
    assert kb is not None
    concepts = [
        replace(kb["HP:0001945"], id="X:1", codes={}, parents=()),
        replace(kb["HP:0005110"], id="X:2", codes={"UMLS": ("C0004238", "C0027051")}),
    ]
    lines = [
        f'{{"concept_id": "{one.id}", "canonical_name": "{one.name}", '
        f'"aliases": {[n.text for n in one.names]}, "codes": {dict(one.codes)}}}'
        for one in concepts
    ]
    text = "\n".join(lines).replace("'", '"').replace("(", "[").replace(")", "]")
    (tmp_path / "x.jsonl").write_text(text, encoding="utf-8")
    other = build_knowledge_base(
        out=tmp_path / "x.kb", sources=[("jsonl", tmp_path / "x.jsonl")]
    ).kb
    by_name, by_code = Mapper(linker).map(list(terms_of(other)))
    assert [(one.id, one.match) for one in by_name.targets] == [("HP:0001945", "exact")]
    # The code that both its names and another one say is chosen among several.
    assert [one.id for one in by_code.targets] == ["HP:0005110"]
