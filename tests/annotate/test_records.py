"""The record of a link, and the columns that Parquet has for it."""

from typing import Any

import pytest

from spacy_medlink.annotate.parquet import _schema
from spacy_medlink.annotate.records import record_of_link
from spacy_medlink.assets import Assets
from spacy_medlink.components.context import register_attributes
from tests.pipelines import pipeline


def _names(type: Any) -> set[str]:
    return {type.value_type.field(place).name for place in range(type.value_type.num_fields)}


def test_parquet_has_a_column_for_all_that_is_said(tiny_assets: Assets) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    nlp = pipeline(tiny_assets, composite=True)
    register_attributes()
    (first, *_) = nlp("Type 1 and type 2 diabetes").ents
    record = record_of_link(first, kept=2)
    mentions = _schema(pyarrow, False).field("mentions").type
    assert _names(mentions) == set(record)
    columns = {mentions.value_type.field(n).name: mentions.value_type.field(n).type
               for n in range(mentions.value_type.num_fields)}  # fmt: skip
    assert _names(columns["candidates"]) == {*record["candidates"][0], "match"}
    parts = {key for part in record["parts"] for key in part}
    assert not parts or _names(columns["parts"]) == parts


def test_nil_has_no_id_and_a_reason(tiny_assets: Assets) -> None:
    nlp = pipeline(tiny_assets, threshold=1.0, deny=["HP:0001945"])
    nlp.get_pipe("medical_mentions").linker = None  # or it finds no such name
    (ent,) = nlp("a fever").ents
    record = record_of_link(ent)
    assert (record["ids"], record["cui"], record["name"], record["score"]) == ([], None, None, None)
    assert record["reason"]
    assert record["candidates"] == []
