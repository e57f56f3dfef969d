"""The benchmark of linking counts links of gold mentions, and NIL where concepts are denied."""

import gzip
import json

from benchmarks import linking

TEXT = "Asthma, a heart attack and type 2 diabetes; then fever."
GOLD = {"Asthma": "HP:0002099", "heart attack": "HP:0001658", "type 2 diabetes": "HP:0005978"}


def test_tiers_and_nil(tiny_assets, tmp_path, monkeypatch):
    mentions = [
        {"start": TEXT.index(text), "end": TEXT.index(text) + len(text), "mention": text,
         "ids": [id], "type": "Disease"}
        for text, id in GOLD.items()
    ]  # fmt: skip
    line = json.dumps({"doc_id": "1", "lang": "en", "text": TEXT, "mentions": mentions})
    (tmp_path / "gsc_plus.dev.jsonl.gz").write_bytes(gzip.compress(f"{line}\n".encode()))
    monkeypatch.setattr(linking, "DATA", tmp_path)
    monkeypatch.setattr(linking, "_SHARE", 1 / 3)
    rows = list(linking.measure("tiny", tiny_assets.path, "gsc_plus", tmp_path, learn=True))
    assert [row["what"] for row in rows] == [
        *tiny_assets.tiers, "all tiers", "all tiers, NIL",
    ]  # fmt: skip
    assert rows[0]["acc@1"] == rows[3]["acc@1"] == 100
    # One of three concepts is denied each time: the others are names, and are linked.
    assert rows[4]["coverage"] == 100 and rows[4]["lost"] == "0.0 of 2"
    assert 50 < rows[4]["precision"] <= 100
