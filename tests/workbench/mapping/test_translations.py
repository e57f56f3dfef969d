"""Terms in other languages: what names of a terminology teach, and which terms they say."""

import json

import pytest

from spacy_medlink.assets import build_assets
from spacy_medlink.kb import build_knowledge_base
from spacy_medlink.linking import Linker
from spacy_medlink.text.lexicon.clinical import clinical
from spacy_medlink.workbench.mapping.mapper import Mapper, Target
from spacy_medlink.workbench.mapping.terms import Term
from spacy_medlink.workbench.mapping.words import says_another
from tests.tables import table

# English names, and German ones of some of them, which teach what words mean.
NAMES = {
    "gastric carcinoma": "Magenkarzinom", "gastric ulcer": "Magengeschwür",
    "lung carcinoma": "Lungenkarzinom", "lung fibrosis": "Lungenfibrose",
    "acute hepatitis": "akute Hepatitis", "acute cystitis": "akute Zystitis",
    "hypothyroidism": "Schilddrüsenunterfunktion", "hypertension": "Bluthochdruck",
    "muscle tone raised": "Hypertonie", "projectile vomiting": "Emesis", "ulcer": "Geschwür",
    "painful ulcer": "schmerzhaftes Geschwür", "painful fibrosis": "schmerzhafte Fibrose",
    "fibrosis": "Fibrose", "lung abscess": "Lungenabszess", "lung ulcer": "",
    "acute lung fibrosis": "", "pulmonary embolism": "", "heart failure": "", "emesis": "",
}  # fmt: skip


@pytest.fixture(scope="module")
def linker(tmp_path_factory):
    place = tmp_path_factory.mktemp("translations")
    lines = []
    for number, (name, german) in enumerate(NAMES.items()):
        names = [{"name": name, "lang": "en"}]
        names += [{"name": german, "lang": "de"}] if german else []
        lines.append(
            json.dumps({"concept_id": f"T{number}", "canonical_name": name, "names": names})
        )
    (place / "kb.jsonl").write_text("\n".join(lines), encoding="utf-8")
    build_knowledge_base(out=place / "kb.kb", sources=[("jsonl", place / "kb.jsonl")])
    return build_assets(place / "assets", place / "kb.kb", None).engine(lexicon=clinical("de"))


def _mapped(linker: Linker, term: str, lang: str = "de") -> Target | None:
    (mapping,) = Mapper(linker, lang=lang).map([Term(term)])
    return mapping.targets[0] if mapping.targets else None


@table(__file__, "terms_are_said_by_names_in_another_language")
def test_terms_are_said_by_names_in_another_language(linker, term, name, match):
    target = _mapped(linker, term)
    assert (target and (target.name, target.match)) == (name and (name, match))


def test_what_a_german_list_of_diagnoses_means(linker):
    for term in ("Hypertonie", "HTN", "aHT", "arterielle Hypertonie"):
        target = _mapped(linker, term)
        assert target is not None and target.name == "hypertension", term


@pytest.mark.parametrize("lang", ["de,en", "en,de"])
def test_mixed_lists(linker, lang):
    for term, name in (("acute lung fibrosis", 16), ("Lungengeschwür", 15), ("HTN", 7)):
        target = _mapped(linker, term, lang)
        assert target is not None and target.id == f"T{name}", term


@table(__file__, "compounds_that_begin_otherwise")
def test_compounds_that_begin_otherwise(text, name, is_another):
    assert says_another(text, name) == is_another
