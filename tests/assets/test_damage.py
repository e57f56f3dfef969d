"""Damaged and hostile assets: the same answer or a coded error; no crash, no hang.

Another answer is given only by files that a verification refuses: what is read at every opening is
sizes and what does not fit together, not checksums.
"""

import json
import os
import random
import shutil
import struct
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest

from spacy_medlink.assets import Assets
from spacy_medlink.assets.manifest import MANIFEST
from spacy_medlink.components.pipelines import linker_of, open_pipeline
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.browse import search_concepts
from tests.complete_assets import write_complete_assets
from tests.mutants import How, alter, damage, in_child

TEXT = "Heart attack, then sugar diabetes (DM). No fevers; hypertensions? Blutdruck 3."

Change = Callable[[Path], None]
Cases = Iterator[tuple[str, Change]]


@pytest.fixture(scope="module")
def used(tmp_path_factory, tiny_kb, tiny_encoder):
    """Whole assets, and what they answer."""
    assets = write_complete_assets(
        tmp_path_factory.mktemp("damage") / "whole", tiny_kb.path, tiny_encoder
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return assets, use(assets.path)  # what is imported at the first use is imported once


@pytest.fixture(scope="module")
def whole(used):
    return used[0]


def use(path: Path) -> str:
    """Ask all that can be asked. RETURNS: what it answers."""
    nlp = open_pipeline(str(path))
    doc = nlp(TEXT)
    linker = linker_of(nlp)
    asked = linker.link_texts(["heart attacks", "hyper tension", "x", "", "fever " * 99])
    said = [
        [(ent.text, ent.kb_id_, [one["id"] for one in ent._.candidates]) for ent in doc.ents],
        [(link.id, [one.id for one in link.candidates]) for link in asked],
        linker.link_texts(["heart attack"], allow=[asked[0].id], languages=["en"])[0].id,
        [hit.matched for hit in search_concepts(linker.kb, "heart")],
        linker.kb.resolve("HP:0005965"),
        [concept.id for concept in linker.kb],
    ]  # fmt: skip
    str(linker.explain("heart attack"))
    return repr(said)


def outcome(path: Path, whole: str) -> str:
    """Use assets in a child process. RETURNS: "same", "other" than the whole ones, or a code."""
    return in_child(lambda: "same" if use(path) == whole else _other(path))


def _other(path: Path) -> str:
    """Tell whether who verifies is given another answer, too."""
    try:
        Assets(path, verify=True)
    except MedlinkError:
        return "other"
    return "unseen"


def copied(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, copy_function=os.link)


def judged(used: tuple[Assets, str], work: Path, cases: Cases) -> dict[str, list[str]]:
    """Group cases by outcome; those that must not be are raised, all together."""
    (whole, answer), found = used, defaultdict(list)
    for name, change in cases:
        copied(whole.path, work)
        change(work)
        found[outcome(work, answer)].append(name)
    bad = {kind: own for kind, own in found.items() if kind.startswith(("uncoded", "signal"))}
    assert not bad, bad
    assert {*found["unseen"]} <= {"manifest ('memory',): null"}, "it says that there is none"
    return found


def write(path: Path, content: bytes) -> None:
    path.unlink()  # it is a hard link
    path.write_bytes(content)


def accept(path: Path) -> None:
    """Let the manifest say the sizes that files have."""
    manifest = json.loads((path / MANIFEST).read_text())
    for name, entry in manifest["files"].items():
        entry["size"] = (path / name).stat().st_size
    write(path / MANIFEST, json.dumps(manifest).encode())


def of_file(name: str, how: How, luck: random.Random | None = None) -> Change:
    def change(path: Path) -> None:
        damage(path / name, how, luck)
        accept(path)

    return change


BYTES = (
    "half", "empty", "zeros", "ones", "noise", "longer", "flipped anywhere", "flipped in front",
)  # fmt: skip
OF_ARRAYS = (
    "largest", "smallest", "nan", "reversed", "shuffled", "double", "two dimensions", "scalar",
    "short", "long", "one too large", "strings", "bool", "big-endian", "objects",
)  # fmt: skip
_HEADER = b"{'descr': '<i8', 'fortran_order': False, 'shape': (9223372036854775807,), }"
_HEADER = _HEADER.ljust(117) + b"\n"
HUGE_SHAPE = b"\x93NUMPY\x01\x00" + len(_HEADER).to_bytes(2, "little") + _HEADER + bytes(200)

# The manifest

VALUES = {
    "null": None, "huge": 10**400, "negative": -1, "text": "../../../etc/passwd",
    "object": {"a": {"b": []}}, "nan": float("nan"),
}  # fmt: skip
WHOLE = {
    "deep": b"[" * 100_000,
    "nul": b"\0",
    "huge number": b'{"schema": ' + b"9" * 5000 + b"}",
    "true": b'{"schema": true}',
    "latin-1": b'{"schema": 1, "x": "\xe9"}',
}


def leaves(value, place=()):
    if place:
        yield place
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, own in pairs:
            yield from leaves(own, (*place, key))


def of_leaf(place, value) -> Change:
    def change(path: Path) -> None:
        manifest = json.loads((path / MANIFEST).read_text())
        inside = manifest
        for key in place[:-1]:
            inside = inside[key]
        inside[place[-1]] = value
        write(path / MANIFEST, json.dumps(manifest).encode())

    return change


def of_manifest(content: bytes) -> Change:
    return lambda path: write(path / MANIFEST, content)


def file_outside(path: Path) -> None:
    outside = path.parent / "outside"
    outside.write_text("secret")
    manifest = json.loads((path / MANIFEST).read_text())
    manifest["files"]["../outside"] = {"size": 6, "sha256": "0" * 64}
    write(path / MANIFEST, json.dumps(manifest).encode())


def link_outside(path: Path) -> None:
    (path.parent / "outside.npy").write_bytes((path / "name_concept.npy").read_bytes())
    (path / "name_concept.npy").unlink()
    (path / "name_concept.npy").symlink_to(path.parent / "outside.npy")


def pipe(path: Path) -> None:
    (path / "ranker.json").unlink()
    os.mkfifo(path / "ranker.json")


def circle(path: Path) -> None:
    (path / MANIFEST).unlink()
    (path / MANIFEST).symlink_to(path / MANIFEST)


PLACES: dict[str, Change] = {
    "a file outside": file_outside,
    "a link outside": link_outside,
    "a pipe": pipe,
    "a circle of links": circle,
}

# The knowledge base

_ENDLESS = (
    "CREATE VIEW name AS WITH RECURSIVE r(row) AS (SELECT 0 UNION ALL SELECT row + 1 FROM r)"
    " SELECT row, row AS concept, 'x' AS text, 0 AS lang, 0 AS source, 0 AS tty, 0 AS obsolete"
    " FROM r"
)
# What a file of ours never has: it may run when a row is read, or lie about what there is.
STRANGE = {
    "another view": ["CREATE VIEW v AS SELECT * FROM name"],
    "a trigger": ["CREATE TRIGGER t AFTER UPDATE ON name BEGIN DELETE FROM name; END"],
    "another table": ["CREATE TABLE x (a TEXT)"],
    "a virtual table": ["CREATE VIRTUAL TABLE x USING fts5(a)"],
    "another index": ["CREATE INDEX x ON name (text) WHERE obsolete = 7"],
    "a computed column": ["ALTER TABLE name ADD COLUMN x AS (printf('%.*c', 1e9, 'a'))"],
    "statistics": ["ANALYZE"],
}
STATEMENTS = {
    **STRANGE,
    "a view": ["ALTER TABLE concept RENAME TO c", "CREATE VIEW concept AS SELECT * FROM c"],
    "an endless view": ["DROP TABLE name", _ENDLESS],
    "no names": ["DELETE FROM name"],
    "no concepts": ["DELETE FROM concept"],
    "no labels": ["DELETE FROM label"],
    "no meta": ["DELETE FROM meta"],
    "names that are blobs": ["UPDATE name SET text = x'ff00ff'"],
    "names that are no UTF-8": ["UPDATE name SET text = CAST(x'c328' AS TEXT)"],
    "codes that are no JSON": ["UPDATE concept SET codes = '{'"],
    "codes in a list": ["UPDATE concept SET codes = '[1]'"],
    "codes of numbers": ["UPDATE concept SET codes = '{\"UMLS\": [1]}'"],
    "types that are a number": ["UPDATE concept SET types = '5'"],
    "types in types": ["UPDATE concept SET types = '[[1]]'"],
    "types nested deeply": [f"UPDATE concept SET types = '{'[' * 100_000}'"],
    "parents in a circle": ["UPDATE concept SET parents = '[\"' || id || '\"]'"],
    "first names far away": ["UPDATE concept SET first_name = 9223372036854775807"],
    "fewer names than none": ["UPDATE concept SET n_names = -5"],
    "names without number": ["UPDATE concept SET n_names = 4611686018427387904"],
    "meta that is no JSON": ["UPDATE meta SET value = '{'"],
    "counts that are text": ["UPDATE meta SET value = '\"x\"' WHERE key = 'names'"],
    "a language that is not there": ["UPDATE name SET lang = 999"],
    "equal ids": ["DROP INDEX concept_id", "UPDATE concept SET id = 'X'"],
    "a huge name": ["UPDATE name SET text = printf('%.*c', 2000000, 'a') WHERE row < 3"],
    "another version": ["PRAGMA user_version = 99"],
    "another application": ["PRAGMA application_id = 7"],
    "no lookup": ["DROP TABLE lookup"],
    "no table of concepts": ["DROP TABLE concept"],
    "ids replaced in a circle": [
        "INSERT OR REPLACE INTO retired VALUES ('x', 'y', ''), ('y', 'x', '')"
    ],
}


def of_database(statements: list[str]) -> Change:
    def change(path: Path) -> None:
        damage(path / "kb.sqlite", (path / "kb.sqlite").read_bytes())  # a copy, no link
        alter(path / "kb.sqlite", *statements)
        accept(path)

    return change


# The index and the encoders, which native code reads


def flat_header(dim: int, count: int, said: int) -> Change:
    """Let the header of a flat index speak of other vectors than there are."""

    def change(path: Path) -> None:
        data = bytearray((path / "dense.faiss").read_bytes())
        struct.pack_into("<iq", data, 4, dim, count)
        struct.pack_into("<Q", data, 37, said)
        write(path / "dense.faiss", bytes(data))

    return change


INDEX = {
    "no dimensions": flat_header(0, 50, 1600),
    "many dimensions": flat_header(1 << 30, 50, 1600),
    "fewer vectors than none": flat_header(32, -1, 1600),
    "many vectors": flat_header(32, 1 << 40, 1 << 45),
    "more numbers than there are": flat_header(32, 50, 1 << 60),
}


def of_json(name: str, **values) -> Change:
    def change(path: Path) -> None:
        facts = json.loads((path / name).read_text())
        write(path / name, json.dumps({**facts, **values}).encode())
        accept(path)

    return change


def config(**values) -> Cases:
    for part in ("encoder", "reranker"):
        for name, value in values.items():
            yield f"{part}: {name} = {value}", of_json(f"{part}/config.json", **{name: value})


def encoders() -> Cases:
    for value in (10**9, -1, 0, "x", None):
        yield from config(num_hidden_layers=value, hidden_size=value, vocab_size=value)
    yield from config(num_attention_heads=3, max_position_embeddings=2, type_vocab_size=0)
    yield from config(layer_norm_eps="x", model_type="gpt2", hidden_act="none", pad_token_id=999)
    for value in (0, 1, -5, "x", 10**9, None):
        yield f"length {value}", of_json("encoder/medlink_encoder.json", max_length=value)
    yield "pooling", of_json("encoder/medlink_encoder.json", pooling="x")


def files(whole: Assets, luck: random.Random) -> Cases:
    for name, how in product(whole.files[1:], BYTES):
        yield f"{name}: {how}", of_file(name, how, luck)


def arrays(whole: Assets, luck: random.Random) -> Cases:
    names = [one for one in whole.files if one.endswith(".npy")]
    for name, how in product(names, (*OF_ARRAYS, HUGE_SHAPE)):
        yield f"{name}: {how!r:.20}", of_file(name, how)


def manifests(whole: Assets, luck: random.Random) -> Cases:
    first = whole.files[1]
    for place in leaves(whole.manifest):
        if place[0] in ("files", "versions", "update") and place[1:2] not in ((), (first,)):
            continue
        for label, value in VALUES.items():
            yield f"manifest {place}: {label}", of_leaf(place, value)
    for label, content in WHOLE.items():
        yield f"manifest: {label}", of_manifest(content)
    yield from PLACES.items()


def databases(whole: Assets, luck: random.Random) -> Cases:
    for label, statements in STATEMENTS.items():
        yield f"kb: {label}", of_database(statements)
    for number in range(20):
        yield f"kb: page {number}", of_file("kb.sqlite", "a page of noise", luck)


def native(whole: Assets, luck: random.Random) -> Cases:
    yield from INDEX.items()
    yield from encoders()


# Kinds of damage, each with the number of cases at least, and of those that are answered: a
# guard against cases that are never made. A test for each, so that none takes minutes. Of what
# native code reads only a length is harmless that is cut to what the network can hold.
KINDS = [
    (files, 300, 20), (arrays, 250, 15), (manifests, 350, 50), (databases, 45, 5),
    (native, 50, 1),
]  # fmt: skip


def some_cases(whole: Assets, luck: random.Random) -> Cases:
    """Yield a few of each kind, those among them that once ended the process."""
    yield "index: noise", of_file("dense.faiss", "noise", luck)
    yield "n-grams: places", of_file("ngram/word_names_items.npy", "largest")
    yield "n-grams: offsets", of_file("ngram/word_names_offsets.npy", "reversed")
    yield "rows", of_file("name_concept.npy", "one too large")
    yield "exact", of_file("exact/row.npy", "one too large")
    yield "objects", of_file("exact/hash.npy", "objects")
    yield "huge shape", of_file("facets/type.npy", HUGE_SHAPE)
    yield "memory", of_file("memory/memory.jsonl", "noise", luck)
    yield "tokenizer", of_file("encoder/tokenizer.json", "half", luck)
    yield "weights", of_file("encoder/model.safetensors", "zeros", luck)
    yield "kb", of_file("kb.sqlite", "a page of noise", luck)
    yield "manifest: deep", of_manifest(WHOLE["deep"])
    yield "manifest: weights", of_leaf(("fusion", "weights", "exact"), "x")
    for label in ("an endless view", "names that are blobs", "codes in a list", "no labels"):
        yield f"kb: {label}", of_database(STATEMENTS[label])
    yield "index: more numbers", INDEX["more numbers than there are"]
    yield "layers", of_json("encoder/config.json", num_hidden_layers=10**9)
    yield "layers of the reranker", of_json("reranker/config.json", num_hidden_layers=10**9)
    yield "a reranker that cannot run", of_json("reranker/config.json", layer_norm_eps="x")


@pytest.mark.parametrize("kind", STRANGE)
def test_a_database_with_more_than_our_tables_is_refused(whole, tmp_path, kind):
    shutil.copytree(whole.path, tmp_path / "a")
    of_database(STRANGE[kind])(tmp_path / "a")
    with pytest.raises(MedlinkError, match=r"E102.*(it has the|is another one)"):
        KnowledgeBase(tmp_path / "a" / "kb.sqlite")


def test_damage_of_every_kind_gets_a_code(used, tmp_path):
    assert outcome(used[0].path, used[1]) == "same"
    found = judged(used, tmp_path / "a", some_cases(used[0], random.Random(1)))
    assert sum(len(names) for code, names in found.items() if code[0] == "E") >= 15, found


@pytest.mark.slow
@pytest.mark.parametrize(("cases", "least", "answered"), KINDS)
def test_any_damage_gets_an_answer_or_a_code(used, tmp_path, cases, least, answered):
    found = judged(used, tmp_path / "a", cases(used[0], random.Random(1)))
    print(cases.__name__, {kind: len(names) for kind, names in found.items()})
    assert sum(map(len, found.values())) >= least
    assert len(found["same"]) + len(found["other"]) >= answered, found
    if cases is native:
        assert (found["same"], found["other"]) == (["length 1000000000"], [])


@pytest.mark.parametrize("label", PLACES)
def test_files_that_lie_elsewhere_are_refused(whole, tmp_path, label):
    copied(whole.path, tmp_path / "a")
    PLACES[label](tmp_path / "a")
    with pytest.raises(MedlinkError, match="E202"):
        Assets(tmp_path / "a")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("files", "kb.sqlite", "size"), "1"), (("files", "kb.sqlite", "size"), -1),
        (("files", "kb.sqlite", "sha256"), "x"), (("kb", "names"), True),
        (("kb", "concepts"), -1), (("tiers",), ["exact", "magic"]),
        (("fusion", "weights", "exact"), float("inf")), (("fusion", "weights", "exact"), -0.1),
        (("encoder", "dim"), 0), (("encoder",), None), (("index", "names"), 49),
        (("calibrator", "threshold"), "high"),
    ],
)  # fmt: skip
def test_the_manifest_is_checked_as_a_whole(whole, tmp_path, place, value):
    copied(whole.path, tmp_path / "a")
    of_leaf(place, value)(tmp_path / "a")
    with pytest.raises(MedlinkError, match=r"E202.*manifest\.json"):
        Assets(tmp_path / "a")


def test_facts_that_are_not_known_are_allowed(whole, tmp_path):
    copied(whole.path, tmp_path / "a")
    of_leaf(("something_new",), {"a": [1]})(tmp_path / "a")
    of_leaf(("kb", "overlay"), 3)(tmp_path / "a")
    assert Assets(tmp_path / "a").manifest["something_new"] == {"a": [1]}


def test_assets_of_an_installed_package_are_verified(whole, tmp_path):
    from spacy_medlink.components.sources import assets_in, open_assets

    place = tmp_path / "site-packages" / "xx_pipeline" / "medical_linker" / "assets"
    place.parent.mkdir(parents=True)
    copied(whole.path, place)
    of_file("ranker.json", "flipped anywhere", random.Random(1))(place)
    for source in (place, place.parent.parent):
        with pytest.raises(MedlinkError, match=r"E202.*ranker\.json has a wrong checksum"):
            open_assets(source)
    moved = tmp_path / "elsewhere"
    shutil.move(place.parent.parent, moved)
    assert open_assets(moved).tiers == ["exact", "ngram", "dense"]
    (found,) = assets_in(moved)
    with pytest.raises(MedlinkError, match=r"E202.*ranker\.json"):
        found.verify()
