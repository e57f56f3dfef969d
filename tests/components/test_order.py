"""Pipelines that would lose links without a word: wrong order, assets that are not there."""

import warnings

import pytest
import spacy

from spacy_medlink.errors import MedlinkError
from tests.pipelines import pipeline
from tests.tables import table


def said(nlp, *texts):
    """List the warnings about the order that some texts bring."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        list(nlp.pipe(texts))
        for text in texts:
            nlp(text)
    return [str(one.message) for one in caught if "W102" in str(one.message)]


def with_pipes(tiny_assets, *names, spans_key=None):
    nlp = spacy.blank("en")
    for number, name in enumerate(names):
        config = {}
        if name in ("medical_mentions", "medical_linker"):
            config["assets"] = str(tiny_assets.path)
        if spans_key and name.startswith("medical_"):
            config["spans_key"] = spans_key
        pipe = nlp.add_pipe(name, name=f"{name}_{number}", config=config)
        if name == "entity_ruler":
            pipe.add_patterns([{"label": "DISEASE", "pattern": "Asthma"}])
    return nlp


@pytest.mark.parametrize("late", ["medical_mentions", "entity_ruler"])
@pytest.mark.parametrize("own", ["medical_linker", "medical_context"])
def test_mentions_that_come_too_late_are_said_once(tiny_assets, own, late):
    (message,) = said(with_pipes(tiny_assets, own, late), "Asthma.", "Fever.", "No fever.")
    assert f"{late}_1 finds mentions only after {own}_0 has run" in message
    assert f"nlp.add_pipe('{late}', name='{late}_1', before='{own}_0')" in message


def test_the_order_of_span_groups(tiny_assets):
    late = with_pipes(tiny_assets, "medical_linker", "medical_mentions", spans_key="sc")
    assert len(said(late, "Asthma.")) == 1
    others = with_pipes(tiny_assets, "medical_mentions", "medical_linker")
    config = {"assets": str(tiny_assets.path), "spans_key": "sc"}
    others.add_pipe("medical_mentions", "more", config=config)
    assert not said(others, "Asthma.")


@pytest.mark.parametrize("reader", ["medical_linker", "medical_context"])
@table(__file__, "mentions_that_are_written_elsewhere_are_said")
def test_mentions_that_are_written_elsewhere_are_said(tiny_assets, reader, written, read, is_seen):
    config = {"assets": str(tiny_assets.path)}
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions", "finder", config={**config, **written, "linker": None})
    config = config if reader == "medical_linker" else {}
    nlp.add_pipe(reader, "first", config={**config, "spans_key": read})
    messages = said(nlp, "Asthma.", "Fever.")
    assert len(messages) == (not is_seen)
    assert is_seen or "first does not see the mentions of finder" in messages[0]
    # Another one reads them, beside what this one reads.
    prefix = {"prefix": "second_"} if config else {}
    key = written.get("spans_key")
    nlp.add_pipe(reader, "second", config={**config, **prefix, "spans_key": key})
    assert not said(nlp, "Asthma.")


def test_an_order_that_loses_nothing(tiny_assets):
    names = ["medical_mentions", "medical_linker", "medical_context"]
    assert not said(with_pipes(tiny_assets, *names), "Asthma.", "Nothing.")
    changed = with_pipes(tiny_assets, *names)
    changed.add_pipe("entity_ruler").add_patterns([{"label": "X", "pattern": "Asthma"}])
    assert not said(changed, "Asthma."), "it may change what was found"


def test_two_linkers_share_the_mentions(tiny_assets):
    nlp = pipeline(tiny_assets, labels_discard=["X"])
    path = str(tiny_assets.path)
    nlp.add_pipe("medical_mentions", "more", config={"assets": path, "label": "X"})
    nlp.add_pipe("medical_linker", "second", config={"assets": path, "prefix": "b_"})
    assert not said(nlp, "Asthma.")


@pytest.mark.parametrize("text", ["", "No mention here."])
@table(__file__, "files_that_do_not_exist_are_an_error_at_the_first_text")
def test_files_that_do_not_exist_are_an_error_at_the_first_text(
    tiny_assets, tmp_path, component, setting, text
):
    """Also where the text has nothing to link: else a typing error shows months later."""
    nlp = spacy.blank("en")
    config = {"assets": str(tiny_assets.path), setting: str(tmp_path / "mistyped")}
    nlp.add_pipe(component, config=config)
    for ask in (lambda: nlp(text), lambda: list(nlp.pipe([text])), nlp.initialize):
        with pytest.raises(MedlinkError, match="mistyped"):
            ask()
