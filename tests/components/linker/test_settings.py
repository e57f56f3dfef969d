"""Any value of any setting: either it works, or an error says so when the component is made."""

import inspect
import warnings
from collections.abc import Mapping
from typing import Any

import pytest
import spacy
from hypothesis import example, given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Span
from thinc.api import ConfigValidationError

from spacy_medlink.assets import Assets
from spacy_medlink.components.finding.settings import MentionSettings
from spacy_medlink.components.linker import MedicalLinker
from spacy_medlink.components.linker.settings import DEFAULT_CONFIG, LinkerSettings
from spacy_medlink.components.mentions import DEFAULT_CONFIG as MENTIONS
from spacy_medlink.components.mentions import MedicalMentions
from spacy_medlink.components.pipelines import open_pipeline
from spacy_medlink.errors import MedlinkError
from spacy_medlink.retrieval.fusion import ReciprocalRankFusion, WeightedFusion

NAN, INF, HALF_PAIR = float("nan"), float("inf"), "\ud800"
TEXT = "fever and (asthma), breast and ovarian cancer, heart-attack 7 "
# What may go wrong at the first link, since it says what the assets or the pipeline lack.
OF_ASSETS = {"E107", "E213", "E201", "E401", "E405"}
OF_ASSETS |= {"E106", "E224"}  # of an expression, `within`
NUMBERS = st.one_of(
    st.sampled_from([0, 1, -1, 5, 2**31 - 1, 2**31, 2**63, 2**64, 10**12, NAN, INF, -INF, 0.5,
                     1.0000001, -0.0, True]),
    st.integers(), st.floats(),
)  # fmt: skip
WORDS = st.sampled_from(
    ["", " ", "x", "en", "T047", "DISO", "HPO", "HP:0001945", "exact", "dense", "fever", "D",
     "sc", "medical_linker", "medical_mentions", "group", "better", HALF_PAIR, "\0", "a\nb",
     "x" * 300, "a" * 5000, "../..", "%", "'; DROP TABLE concept; --"]
)  # fmt: skip
LISTS = st.lists(WORDS, max_size=3)
VALUES = st.one_of(
    st.none(), st.booleans(), NUMBERS, WORDS, LISTS, st.just(["DISO"] * 400),
    st.dictionaries(WORDS, st.one_of(LISTS, NUMBERS), max_size=2),
    st.tuples(WORDS), st.binary(max_size=3), st.builds(object),
)  # fmt: skip


def run(component: MedicalLinker | MedicalMentions) -> None:
    nlp = spacy.blank("en")
    doc = nlp.make_doc(TEXT * 3)
    doc.set_ents([Span(doc, token.i, token.i + 1, label="D") for token in doc if token.is_alpha])
    doc.spans["sc"] = [Span(doc, 0, 3, label="D"), Span(doc, 0, 3), Span(doc, 5, 8, label="E")]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"\[W")
        component(doc)


def made(cls: type, assets: Assets, config: Mapping[str, Any]) -> Any:
    """Make a component; None where a coded error says that it cannot be."""
    try:
        return cls(spacy.blank("en").vocab, **{"assets": str(assets.path), **config})
    except MedlinkError as error:
        assert error.code in ("E302", "E302"), error
        assert len(str(error)) < 400
        return None


# What the registered architectures make has tests of its own.
LINKER_NAMES = st.sampled_from(sorted(set(DEFAULT_CONFIG) - {"encoder", "reranker", "fusion"}))
Config = dict[str, Any]
FEW, MANY = settings(max_examples=15), settings(max_examples=300)
LINKER_CONFIGS = st.dictionaries(LINKER_NAMES, VALUES, min_size=1, max_size=2)
MENTION_CONFIGS = st.dictionaries(st.sampled_from(sorted(MENTIONS)), VALUES, min_size=1, max_size=2)


def check(cls: type, assets: Assets, config: Config) -> None:
    component = made(cls, assets, config)
    try:
        if component is not None:
            run(component)
    except MedlinkError as error:
        # That the linker is missing which is to be asked is known when it is asked.
        asked = error.code == "E302" and config.get("propose") is not None
        assert error.code in OF_ASSETS or asked, error


@FEW
@given(LINKER_CONFIGS)
@example({"assets": HALF_PAIR})
@example({"assets": "a" * 5000})
@example({"labels": {HALF_PAIR: ["DISO"]}})
def test_any_settings_of_the_linker(tiny_assets, config):
    check(MedicalLinker, tiny_assets, config)


@FEW
@given(MENTION_CONFIGS)
@example({"spans_key": 2**63})
@example({"stop": [HALF_PAIR]})
def test_any_settings_of_the_mentions(tiny_assets, config):
    check(MedicalMentions, tiny_assets, config)


@pytest.mark.slow
@MANY
@given(LINKER_CONFIGS, MENTION_CONFIGS)
def test_many_settings(tiny_assets, linker, mentions):
    check(MedicalLinker, tiny_assets, linker)
    check(MedicalMentions, tiny_assets, mentions)


@pytest.mark.parametrize("name", ["medical_linker", "medical_mentions"])
@FEW
@given(data=st.data())
def test_any_settings_of_a_pipeline(name, tiny_assets, data):
    """spaCy refuses some values itself: those of wrong types, and what is no JSON."""
    names = LINKER_NAMES if name == "medical_linker" else st.sampled_from(sorted(MENTIONS))
    # A key that is half a surrogate pair ends the process within spaCy, before we are asked.
    values = st.one_of(NUMBERS, LISTS, st.dictionaries(st.just("D"), NUMBERS))
    config = data.draw(st.dictionaries(names, values, min_size=1, max_size=2))
    nlp = spacy.blank("en")
    try:
        nlp.add_pipe(name, config={"assets": str(tiny_assets.path), **config})
    except MedlinkError as error:
        assert error.code in ("E302", "E302"), error
    except (ConfigValidationError, UnicodeEncodeError):
        pass
    except ValueError as error:
        assert "E961" in str(error)  # not serializable


@pytest.mark.parametrize(
    ("factory", "settings"),
    [("medical_linker", LinkerSettings), ("medical_mentions", MentionSettings)],
)
def test_the_settings_are_the_one_source(factory, settings):
    """Of the factory's arguments, their types and defaults; every setting has rule and meaning."""
    meta = Language.get_factory_meta(factory)
    assert meta.default_config == settings.of({}).model_dump() == settings.defaults()
    arguments = inspect.signature(spacy.registry.factories.get(factory)).parameters
    names = [name for name in arguments if name not in ("nlp", "name")]
    assert names == list(settings.model_fields)
    assert arguments[names[0]].annotation == (str | None)
    for name, field in settings.model_fields.items():
        assert field.description and settings.rule_of(name).startswith(("must", "may"))


def test_settings_are_attributes_that_are_checked(tiny_assets):
    linker = MedicalLinker(spacy.blank("en").vocab, assets=tiny_assets.path, labels={"D": ["T047"]})
    assert linker.label_types == {"D": ["T047"]} and linker.opened.source == str(tiny_assets.path)
    for name in set(DEFAULT_CONFIG) - {"assets", "labels"}:
        assert getattr(linker, name) == getattr(linker.settings, name)
    linker.label_types, linker.top_k = {"D": ["T033"]}, 1
    assert (linker.settings.labels, linker.settings.top_k) == ({"D": ["T033"]}, 1)
    assert len(linker.link_texts(["fever"])[0].candidates) == 1
    for name, value, code in (
        ("top_k", 0, "E302"),
        ("threshold", 2, "E302"),
        ("deny", "x", "E302"),
    ):
        before = getattr(linker, name)
        with pytest.raises(MedlinkError, match=code):
            setattr(linker, name, value)
        assert getattr(linker, name) == before
    with pytest.raises(AttributeError, match="treshold"):
        _ = linker.treshold


@pytest.mark.parametrize(
    ("config", "rule"),
    [
        ({"top_k": 0}, "from 1 to 10,000"), ({"top_k": "5"}, "whole number"),
        ({"types": "DISO"}, "list"),
        ({"labels": {HALF_PAIR: ["DISO"]}}, "characters that can be written"),
        ({"assets": "a" * 5000}, "path"), ({"merge": "x"}, "replace, fill"),
        ({"spans_key": []}, "different keys"), ({"model": "x"}, "architecture"),
        ({"fusion": "x"}, "WeightedFusion"), ({"batch_size": 0}, "from 1"),
        ({"tiers": []}, "exact"),
        ({"tiers": ["exact", "telepathy"]}, "exact"), ({"rerank_top": -1}, "from 0"),
        ({"allow": []}, "one id or more"),
        *(({"threshold": value}, "") for value in (NAN, INF, -0.1, 1.1, "0.5", True)),
    ],
)  # fmt: skip
def test_messages(tiny_assets, config, rule):
    with pytest.raises(MedlinkError, match=rf"E302.*{next(iter(config))}.*{rule}"):
        MedicalLinker(spacy.blank("en").vocab, **{"assets": tiny_assets.path, **config})


@pytest.mark.parametrize(
    "weights",
    [{"exact": NAN}, {"exact": INF}, {"exact": "1"}, {"ngram": -1}, {"dense": True}, ["exact"]],
)
@pytest.mark.parametrize("fusion", [WeightedFusion, ReciprocalRankFusion])
def test_fusions_that_cannot_be(fusion, weights):
    with pytest.raises(MedlinkError, match=r"E302.*weights"):
        fusion(weights)
    for k in (-1, NAN, "60"):
        with pytest.raises(MedlinkError, match=r"E302.*\bk is"):
            ReciprocalRankFusion(k=k)


def test_settings_of_a_saved_pipeline_are_checked(tiny_assets, tmp_path):
    open_pipeline(str(tiny_assets.path)).to_disk(tmp_path / "saved")
    linker = open_pipeline(str(tmp_path / "saved"), top_k=2, labels={"D": ["T047"]}).get_pipe(
        "medical_linker"
    )
    assert (linker.top_k, linker.label_types) == (2, {"D": ["T047"]})
    for name, value in (("threshold", NAN), ("top_k", 0), ("types", "T047")):
        with pytest.raises(MedlinkError, match="E30"):
            open_pipeline(str(tmp_path / "saved"), **{name: value})
        with pytest.raises(MedlinkError, match="E30"):
            open_pipeline(str(tiny_assets.path), **{name: value})
