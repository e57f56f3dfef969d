"""Every component in every way that spaCy keeps and runs pipelines; and what others have."""

import copy
import gc
import json
import multiprocessing
import os
import pickle
import random
import shutil
from itertools import product

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import fix_random_seed, load_model_from_config
from spacy.vocab import Vocab

from spacy_medlink import use_tokenizer
from spacy_medlink.assets import Assets
from spacy_medlink.components.context import register_attributes
from spacy_medlink.components.extensions import register_extensions, register_reading
from tests.children import ROOT, python
from tests.pipelines import TEXTS as NOTES
from tests.pipelines import values
from tests.tiny import TINY_RECORDS, assets_of

for prefix in ("", "b_"):
    register_extensions(prefix)
register_reading()
register_attributes()
TEXTS = [
    *NOTES, "Known asthma;fever, HTN&asthma.", "Seen: no fever. Mother with asthma. HTN+fever",
    "Type 1 and type 2 diabetes, attack of the heart.", "Attic:\nST was high, nix asthma",
]  # fmt: skip
GIVEN = ["heart attack", "no fever", "Mother with asthma", "type 2 diabetes", "asthma;fever"]
STATED = ("is_negated", "is_family", "is_historical", "section")
# Files of the user's, which a pipeline no longer needs when it is saved.
OWN = {
    "lexicon.tsv": "ST\tfever\n",
    "cues.tsv": "negated\tforward\tnix\nsection\tjunk: historical\tattic\n",
    "overlay.tsv": "retire\t\tHP:0000822\n",
}

COMPONENTS = {  # the settings of each component of a pipeline
    "mentions": {"medical_mentions": {}},
    "entities": {"medical_mentions": {}, "medical_linker": {}, "medical_context": {}},
    "groups": {
        "medical_mentions": {"spans_key": "sc"},
        "medical_linker": {"spans_key": "sc", "cui_scheme": "UMLS"},
        "medical_context": {"spans_key": "sc"},
    },
    "linker": {"given": {}, "medical_linker": {"cui_scheme": "UMLS"}},
    "context": {"given": {}, "medical_context": {}},
}
# Settings by which the same components say something else.
SETTINGS = {
    "two linkers": {
        "medical_mentions": {}, "medical_linker": {"composite": True},
        "second": {"prefix": "b_", "cui_scheme": "ICD10CM", "threshold": 0.0, "merge": "leave"},
    },
    "labels": {
        "medical_mentions": {"label": "group", "types": []}, "medical_linker": {"types": ["T184"]},
    },
    "everything": {"medical_mentions": {"leave_out": []}},
    "types": {
        "medical_mentions": {"label": "type", "types": ["DISO"]},
        "medical_linker": {"within": "<< HP:0000819"},
    },
    "filters": {"medical_mentions": {}, "medical_linker": {"types": ["T184"]}},
    "own files": {
        "medical_mentions": {}, "medical_context": {"cues": "cues.tsv"},
        "medical_linker": {"lexicon": ["clinical", "lexicon.tsv"], "overlay": "overlay.tsv"},
    },
}  # fmt: skip


@spacy.Language.component("given")
def given(doc):
    """Stand in for an NER."""
    places = [(doc.text.find(text), len(text)) for text in GIVEN]
    spans = [doc.char_span(at, at + length, "X") for at, length in places if at >= 0]
    doc.set_ents([span for span in spans if span])
    return doc


def make(path, components, tokenizer=True):
    """Make a pipeline over assets; files of the user's lie beside them."""
    nlp = spacy.blank("en")
    if tokenizer:
        use_tokenizer(nlp)
    for name, settings in components.items():
        factory = "medical_linker" if name == "second" else name
        own = {"assets": str(path)} if factory in ("medical_mentions", "medical_linker") else {}
        for setting in {"cues", "overlay"} & settings.keys():
            own[setting] = str(path.parent / settings[setting])
        if "lexicon" in settings:
            own["lexicon"] = ["clinical", str(path.parent / "lexicon.tsv")]
        nlp.add_pipe(factory, name, config={**settings, **own})
    return nlp


def read(docs):
    """List all that is written, as plain data."""

    def said(span):
        return [span.start_char, *map(span._.get, ("reading", "read_at", *STATED))]

    docs = list(docs)
    has_two = any("b_cui" in key for doc in docs for key in doc.user_data)
    spans = [[*doc.ents, *doc.spans.get("sc", ())] for doc in docs]
    found = [[values(of), values(of, "b_") if has_two else [], [*map(said, of)]] for of in spans]
    return json.loads(json.dumps(found))


def from_bytes(nlp, path):
    """Without what it was made of, and as a pickle of what came as bytes."""
    other, data = load_model_from_config(nlp.config.copy()), nlp.to_bytes()
    shutil.rmtree(path / "own")
    found = read(other.from_bytes(data).pipe(TEXTS))
    assert read(pickle.loads(pickle.dumps(other)).pipe(TEXTS)) == found
    return found


def from_disk(nlp, path):
    """Without what it was made of, in another place, and saved over itself."""
    nlp.to_disk(path / "saved")
    shutil.rmtree(path / "own")
    place = (path / "saved").rename(path / "moved")
    loaded = spacy.load(place)
    found = read(loaded.pipe(TEXTS))
    for _ in range(2):  # what is being written is what is mapped: truncated it would be lost
        loaded.to_disk(place)
        loaded = spacy.load(place)
    for other in (loaded, pickle.loads(pickle.dumps(loaded)), copy.deepcopy(loaded)):
        assert read(other.pipe(TEXTS)) == found
    gc.collect()  # the last reader of what was replaced removes it
    assert not list(place.rglob(".*"))
    return found


def over_another(nlp, path):
    """Nothing is left of a pipeline of other assets, settings and files that was saved there."""
    other = assets_of(path / "other", TINY_RECORDS[3:]).path
    for name, text in OWN.items():
        (other.parent / name).write_text(text)
    own = {**SETTINGS["own files"], "medical_mentions": {"label": "group"}}
    make(other, own).to_disk(path / "saved")
    for place in ("saved", "fresh"):
        nlp.to_disk(path / place)
    gc.collect()
    saved, fresh = (
        {file.relative_to(path / place) for name in nlp.pipe_names
         for file in (path / place / name).rglob("*") if file.is_file()}
        for place in ("saved", "fresh")
    )  # fmt: skip
    assert saved == fresh
    return read(spacy.load(path / "saved").pipe(TEXTS))


def by_reference(nlp, path):
    """Without a copy of the assets: both may move together."""
    nlp.get_pipe("medical_linker").copy_assets = False
    (path / "pipelines").mkdir()
    nlp.to_disk(path / "pipelines" / "saved")
    (path / "elsewhere").mkdir()
    for name in ("own", "pipelines"):
        (path / name).rename(path / "elsewhere" / name)
    loaded = spacy.load(path / "elsewhere" / "pipelines" / "saved")
    assets = loaded.get_pipe("medical_linker").assets.path
    assert assets == (path / "elsewhere" / "own" / "assets").resolve()
    return read(pickle.loads(pickle.dumps(loaded)).pipe(TEXTS))


def without_links(nlp, path):
    """Where files cannot be linked they are copied."""

    def refuse(*arguments, **settings):
        raise OSError(18, "another device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "link", refuse)
        nlp.to_disk(path / "saved")
    Assets(path / "saved" / "medical_linker" / "assets", verify=True)
    shutil.rmtree(path / "own")
    return read(spacy.load(path / "saved").pipe(TEXTS))


def by_config(nlp, path):
    """By a config that names a saved pipeline as the source of each component."""
    nlp.to_disk(path / "saved")
    parts = {name: {"source": str(path / "saved")} for name in nlp.pipe_names}
    tokenizer = {"@tokenizers": "spacy-medlink.Tokenizer.v1"}
    own = {"lang": "en", "pipeline": [*nlp.pipe_names], "tokenizer": tokenizer}
    other = load_model_from_config({"nlp": own, "components": parts}, auto_fill=True)
    return read(other.pipe(TEXTS))


def from_pickle(nlp, path):
    """Before its first use and after it; then the files of the user's may be out of reach."""
    found, before = read(pickle.loads(pickle.dumps(nlp)).pipe(TEXTS)), read(nlp.pipe(TEXTS))
    used, pickled = copy.deepcopy(nlp), pickle.dumps(nlp)
    for name, pipe in used.components:
        assert pipe is not nlp.get_pipe(name) or name == "given"  # a function
        assert getattr(pipe, "vocab", used.vocab) is used.vocab
    for name in OWN:
        (path / "own" / name).unlink()
    assert read(used.pipe(TEXTS)) == read(pickle.loads(pickled).pipe(TEXTS)) == before
    return found


def from_doc_bin(nlp, path):
    docs = list(nlp.pipe(TEXTS))
    data = DocBin(docs=docs, store_user_data=True).to_bytes()
    stored = [Doc(Vocab()).from_bytes(doc.to_bytes()) for doc in docs]
    assert read(stored) == read(pickle.loads(pickle.dumps(docs))) == read(docs)
    return read(DocBin().from_bytes(data).get_docs(Vocab()))


def sourced(nlp, path):
    other = use_tokenizer(spacy.blank("en"))
    for name in nlp.pipe_names:
        other.add_pipe(name, source=nlp)
    return read(other.pipe(TEXTS))


def renamed(nlp, path):
    for name in nlp.pipe_names:
        nlp.rename_pipe(name, f"our_{name}")
    return read(nlp.pipe(TEXTS))


def in_a_zone(nlp, path):
    with nlp.memory_zone():
        return read(nlp.pipe(TEXTS))


def one_by_one(nlp, path):
    """In any company: alone, in batches of one, with something to come back with it."""
    docs = [*map(nlp, TEXTS)]
    plain, found = [values(doc.ents) for doc in docs], read(docs)
    assert json.loads(json.dumps(plain)) == plain, "nothing that another process would change"
    assert read(nlp.pipe(TEXTS, batch_size=1)) == found
    docs, places = zip(*nlp.pipe(zip(TEXTS, range(99), strict=False), as_tuples=True), strict=True)
    assert read(docs) == found and [*places] == [*range(len(TEXTS))]
    return found


KEPT = [from_bytes, from_disk, from_pickle]
WAYS = [*KEPT, from_doc_bin, sourced, by_config, renamed, in_a_zone, one_by_one]
CASES = [
    *product(COMPONENTS, WAYS), *product(SETTINGS, KEPT), ("two linkers", from_doc_bin),
    ("entities", by_reference), ("entities", without_links), ("entities", over_another),
    ("everything", over_another),
]  # fmt: skip


@pytest.fixture
def assets(tiny_assets, tmp_path):
    """Assets and files of the test's own, which may go."""
    path = shutil.copytree(tiny_assets.path, tmp_path / "own" / "assets", copy_function=os.link)
    for name, text in OWN.items():
        (tmp_path / "own" / name).write_text(text)
    return path


@pytest.fixture(scope="module")
def told():
    """What pipelines say in the first place, by their name."""
    return {}


@pytest.mark.parametrize(
    ("which", "way"), CASES, ids=[f"{which}, {way.__name__}" for which, way in CASES]
)
def test_each_way_gives_the_same(assets, tmp_path, told, which, way):
    components = {**COMPONENTS, **SETTINGS}[which]
    if which not in told:
        plain = make(assets, {name: {} for name in components if name != "second"})
        want = told[which] = read(make(assets, components).pipe(TEXTS))
        assert sum(len(own) for own, *_ in want) >= (4 if which in COMPONENTS else 2)
        assert which in COMPONENTS or want != read(plain.pipe(TEXTS))
    assert way(make(assets, components), tmp_path) == told[which]


RUN = """
import json, multiprocessing, sys, warnings
warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
import torch
from pathlib import Path
from tests.components.test_matrix import COMPONENTS, TEXTS, make, read
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[2])
    torch.set_num_threads(2)  # with one there is nothing for a child to wait for
    for which, tokenizer in (("groups", False), ("context", True)):
        nlp, texts = make(Path(sys.argv[1]), COMPONENTS[which], tokenizer), TEXTS * 6
        before = read(nlp.pipe(texts))
        assert read(nlp.pipe(texts, n_process=2, batch_size=6)) == before, which
        assert any(before)
"""


METHODS = multiprocessing.get_all_start_methods()[:2]


def run_once(path, script, method, **variables):
    """Link in a process of its own: a child that hangs must not take the tests with it."""
    script.write_text(RUN, encoding="utf8")
    own = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "2", "PATH": "", **variables}
    python(script, path, method, env=own, timeout=450)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("method", METHODS)
def test_processes_give_the_same(tiny_assets, tmp_path, method):
    run_once(tiny_assets.path, tmp_path / "run.py", method, OMP_WAIT_POLICY="PASSIVE")


# What other components have

SIGNS = [*";.+&|(!?*_", "->", "→", "•", "·", ", ", "\n", " and ", "500mg ", "¹;", ")", "=", ":"]
NAMES = ["asthma", "HTN", "fever", "heart attack", "DM"]
TIGHT = [
    f"She has {left}{sign}{right} and saw Ann Lee in London. CP came back."
    for sign, (left, right) in product(SIGNS, list(product(NAMES, NAMES))[1:25:5])
]


def detect(doc):
    """Stand in for an abbreviation detector: spans of the Doc are held elsewhere."""
    Doc.set_extension("held", default=[], force=True)
    doc._.held = [doc[token.i : token.i + 1] for token in doc if token.text in ("CP", "Lee", "in")]
    return doc


def block(doc):
    doc.set_ents([], blocked=[doc[2:3]], default="unmodified")
    return doc


spacy.Language.component("detector", func=detect)
spacy.Language.component("blocker", func=block)
LISTENERS = ("tok2vec", "tagger", "ner")
AROUND = {
    "listeners before": (LISTENERS, ()),
    "listeners after": ((), LISTENERS),
    "first of the listeners": (("tok2vec",), ("tagger", "ner")),
    "sentencizer": (("sentencizer",), ()),
    "detector": (("detector",), ()),
    "blocked": (("blocker",), ()),
}


@pytest.fixture(scope="module")
def trained():
    """A tagger and an NER that listen, and say much."""
    fix_random_seed(0)
    nlp, small = spacy.blank("en"), {"width": 16, "depth": 1, "embed_size": 500, "window_size": 1}
    more = {"maxout_pieces": 2, "subword_features": True, "pretrained_vectors": None}
    network = {"@architectures": "spacy.HashEmbedCNN.v2", **small, **more}
    nlp.add_pipe("tok2vec", config={"model": network})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16, "upstream": "*"}
    for name in LISTENERS[1:]:
        nlp.add_pipe(name, config={"model": {"tok2vec": listener}})
    examples = []
    for text in TIGHT[::4]:
        doc = nlp.make_doc(text)
        start = text.index("Ann")
        marks = {"entities": [(start, start + 7, "PERSON"), (start + 11, start + 17, "GPE")]}
        examples.append(Example.from_dict(doc, {"tags": [t.text[:1] for t in doc], **marks}))
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(12):
        random.shuffle(examples)
        nlp.update(examples, sgd=optimizer)
    return nlp


def facts(doc):
    """List what others have written, and that it fits the tokens."""
    assert not doc.tensor.size or len(doc.tensor) == len(doc)
    tokens = [(token.text, token.idx, token.tag_, token.ent_iob, token.sent_start) for token in doc]
    held = (
        [(span.text, span.start_char) for span in doc._.held] if Doc.has_extension("held") else []
    )
    return tokens, [(ent.text, ent.label_) for ent in doc.ents], held


@pytest.mark.filterwarnings("ignore:.*W107")
@pytest.mark.parametrize("tokenizer", [False, True])
@pytest.mark.parametrize("around", AROUND)
def test_what_others_have_stays(tiny_assets, trained, around, tokenizer):
    """100 texts with tight signs: tokens, tags, entities and sentences are those without us."""
    with_us, without = spacy.blank("en"), spacy.blank("en")
    if tokenizer:
        use_tokenizer(with_us)
        use_tokenizer(without)
    before, after = AROUND[around]
    ours = COMPONENTS["groups"]
    for name in (*before, *ours, *after):
        if name in ours:
            with_us.add_pipe(name, config=ours[name])
            if name != "medical_context":
                with_us.get_pipe(name).initialize(lambda: [], assets=tiny_assets.path)
            continue
        for nlp in (with_us, without):
            copied = copy.deepcopy(trained)
            nlp.add_pipe(name, source=copied if name in LISTENERS else None)
    assert len(TIGHT) >= 100
    pairs = list(zip(with_us.pipe(TIGHT), without.pipe(TIGHT), strict=True))
    for ours_doc, theirs in pairs:
        assert facts(ours_doc) == facts(theirs)
        assert np.array_equal(ours_doc.tensor, theirs.tensor)
        assert all(span.kb_id_ for span in ours_doc.spans["sc"])
    found = sum(len(ours_doc.spans["sc"]) for ours_doc, _ in pairs)
    assert found > 1.9 * len(TIGHT) if tokenizer else found >= len(TIGHT)
