"""Weights of the tiers: learned from names held out, 0 and 1 both possible, summing to 1."""

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import process

from spacy_medlink.assets import build_assets
from spacy_medlink.cli.reports import _how_chosen
from spacy_medlink.fitting.name_examples import SYNONYM
from spacy_medlink.fitting.retrieved import RetrievedExamples
from spacy_medlink.fitting.weights import (
    Tried,
    best_choice,
    choices,
    choose_weights,
    reciprocal_ranks,
)
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.linking import Linker, Parts
from spacy_medlink.linking.language_weights import LanguageWeights
from spacy_medlink.retrieval.added import exact_index
from spacy_medlink.retrieval.dense import DenseIndex
from spacy_medlink.retrieval.facets import Facets
from spacy_medlink.retrieval.fusion import fusion_of, used_tiers
from spacy_medlink.types import Concept, Name
from tests.fits import mention_names
from tests.lines import write_lines
from tests.trigrams import ngram_index

SYLLABLES = "ba co di fu ge ha ki lo mu ne pa ri so tu ve".split()
GERMAN = "ach bei dorf eis furt gau heim juch kopf licht moor nuss".split()


def word(generator, syllables=SYLLABLES):
    return "".join(generator.choice(syllables, 4))


@pytest.fixture(scope="module")
def spelling(tmp_path_factory):
    """Concepts whose names differ by an ending: n-grams find them, and nothing else can."""
    generator = np.random.default_rng(0)
    words = [word(generator) for _ in range(120)]
    concepts = [Concept(text, text, (Name(text), Name(f"{text}ity"))) for text in words]
    path = tmp_path_factory.mktemp("spelling") / "kb"
    build_kb(path, concepts)
    return path


@pytest.fixture(scope="module")
def unrelated(tmp_path_factory):
    """Concepts whose two names share no trigram, so that n-grams only mislead."""
    generator = np.random.default_rng(1)
    concepts = []
    for number in range(120):
        first = word(generator)
        concepts.append(Concept(str(number), first, (Name(first), Name(f"zz{number:03d}zz"))))
    path = tmp_path_factory.mktemp("unrelated") / "kb"
    build_kb(path, concepts)
    return path


class Oracle:
    """An encoder that knows the concept of every name: a vector each, a little noise.

    Of any other text it takes the name that is written most like it.
    """

    dim = 128

    def __init__(self, kb):
        self.concept = {name.text: row for row, name in kb.iter_names()}

    def encode(self, texts):
        nearest = [process.extractOne(text, self.concept.keys())[0] for text in texts]
        vectors = np.eye(self.dim, dtype=np.float32)[[self.concept[name] for name in nearest]]
        return vectors + np.float32(1e-4)


def oracle_engine(path, tmp_path):
    kb = KnowledgeBase(path)
    encoder = Oracle(kb)
    texts = list(kb.iter_texts())
    dense = DenseIndex.build([encoder.encode(texts)], len(texts), encoder.dim, "Flat")
    parts = Parts(
        kb.name_concepts(),
        others={"ngram": ngram_index(texts), "dense": dense}, encoder=encoder,
    )  # fmt: skip
    return Linker.of(parts), kb


@pytest.fixture(scope="module")
def by_names(tmp_path_factory, spelling, tiny_encoder):
    """Assets whose weights names have chosen."""
    return build_assets(tmp_path_factory.mktemp("names") / "a", spelling, tiny_encoder)


def test_an_encoder_that_knows_nothing_gives_way_to_ngrams(by_names):
    fusion = by_names.manifest["fusion"]
    assert fusion["chosen_on"]["names"] == 120
    by_choice = {
        float(choice): quality
        for choice, quality in fusion["chosen_on"]["mrr_by_ngram_weight"].items()
    }
    assert by_choice[1.0] > by_choice[0.0]
    assert fusion["weights"]["dense"] == 0
    assert by_names.used_tiers == ["exact", "ngram"]
    assert sum(fusion["weights"].values()) == pytest.approx(1)


def test_ngrams_that_mislead_get_less_than_by_default(tmp_path, unrelated):
    engine, kb = oracle_engine(unrelated, tmp_path)
    fusion = choose_weights(engine, kb)
    quality = fusion["chosen_on"]["mrr_by_ngram_weight"]
    assert quality["0.0"] == max(quality.values())
    assert fusion["weights"].keys() == {"ngram", "dense"}


def test_names_are_not_found_through_themselves(tmp_path, unrelated):
    """The n-gram tier sees the query's own name at 1.0; held out, it finds nothing."""
    engine, kb = oracle_engine(unrelated, tmp_path)
    names = RetrievedExamples.of(engine, kb)
    found = names.found(names.of_kinds([SYNONYM]))
    own = np.arange(len(found.rows))[:, np.newaxis]
    concepts = np.asarray([one.concept for one in names.of_kinds([SYNONYM])])
    right = (engine.name_concept[np.maximum(found.rows, 0)] == concepts[own]) & (found.rows >= 0)
    assert right.any(axis=1).all()  # the encoder knows them
    assert (found.scores["ngram"] * right).max() < 0.2


def test_the_exact_tier_is_in_every_choice():
    for choice in choices(["exact", "ngram", "dense"]):
        assert choice.weights["exact"] > 0, choice.name


def test_what_was_chosen_is_said_with_each_tier_alone(by_names):
    on = by_names.manifest["fusion"]["chosen_on"]
    assert set(on["mrr_alone"]) == {"exact", "ngram", "dense"}
    assert on["mrr"] == on["mrr_alone"]["ngram"] >= on["mrr_alone"]["dense"]
    assert sum(on["examples"].values()) > 120 and on["examples"]["synonym"] == 120
    said = _how_chosen(on)
    for word in ("120 synonym", "exact alone", "ngram alone", "dense alone", on["choice"]):
        assert word in said


def test_a_small_terminology_takes_the_default(tiny_assets):
    fusion = tiny_assets.manifest["fusion"]
    assert fusion["chosen_on"] is None
    assert fusion["weights"] == pytest.approx(
        {"exact": 0.1 / 1.4, "ngram": 0.3 / 1.4, "dense": 1 / 1.4}
    )


def test_within_the_noise_the_default_wins():
    generator = np.random.default_rng(2)
    ranks = generator.choice([0.2, 0.5, 1.0], 200)
    made = {choice.ngram: choice for choice in choices(["ngram", "dense"]) if not choice.alone}
    some = [made[weight] for weight in (0.0, 0.3, 1.0)]
    quality = {choice: ranks + generator.normal(0, 0.3, 200) for choice in some}
    assert best_choice(tried(quality)).ngram == 0.3
    quality[some[2]] = np.ones(200)
    assert best_choice(tried(quality)).ngram == 1.0


def tried(quality, shares=None):
    count = len(next(iter(quality.values())))
    shares = np.ones(count) if shares is None else shares
    return Tried(quality, shares, np.full(count, -1))


def test_kinds_count_the_same_however_many_examples_they_have():
    """A rare kind that spelling finds outweighs a frequent one that the encoder finds."""
    made = {choice.ngram: choice for choice in choices(["ngram", "dense"]) if not choice.alone}
    frequent = np.arange(300) < 200
    quality = {made[0.0]: frequent.astype(float), made[4.0]: (~frequent).astype(float)}
    quality[made[4.0]] += 0.2 * frequent
    assert best_choice(tried(quality)).ngram == 0.0
    assert best_choice(tried(quality, np.where(frequent, 1 / 200, 1 / 100))).ngram == 4.0


def test_the_choice_is_never_worse_than_a_tier_alone():
    """Also where the difference is within the noise."""
    generator = np.random.default_rng(3)
    for _ in range(30):
        made = choices(["exact", "ngram", "dense"])
        quality = {choice: generator.choice([0.0, 0.5, 1.0], 60) for choice in made}
        best = max(quality[choice].mean() for choice in made if choice.alone)
        assert quality[best_choice(tried(quality))].mean() >= best


@pytest.fixture(scope="module")
def dev_file(spelling, tmp_path_factory):
    """The mentions are the names with an ending that no name has."""
    kb = KnowledgeBase(spelling)
    rows = [{"mention": f"{concept.name}itis", "ids": [concept.id]} for concept in kb]
    return write_lines(tmp_path_factory.mktemp("dev") / "dev.jsonl", *rows)


@pytest.fixture(scope="module")
def by_text(tmp_path_factory, spelling, tiny_encoder, dev_file):
    """Assets whose weights annotated text has chosen."""
    out = tmp_path_factory.mktemp("text") / "a"
    return build_assets(out, spelling, tiny_encoder, dev=dev_file)


def test_weights_from_a_gold_file(by_text):
    fusion = by_text.manifest["fusion"]
    on = fusion["chosen_on"]
    assert (on["file"], on["mentions"], len(on["sha256"])) == ("dev.jsonl", 120, 64)
    every = {**on["mrr_by_ngram_weight"], **on["mrr_by_other"]}
    alone = [value for name, value in every.items() if name.endswith("alone")]
    chosen = every[on["choice"].removeprefix("ngram ") if "alone" not in on["choice"] and
                   "rank" not in on["choice"] else on["choice"]]  # fmt: skip
    assert chosen >= max(alone) > 0.5
    assert sum(fusion["weights"].values()) == pytest.approx(1)
    # No mention of the file is a name: the exact tier knows none of them, and gets no credit.
    assert on["mrr_by_other"]["exact alone"] == 0 and on["choice"] != "exact alone"


def test_names_that_mentions_gave_count_as_new(tmp_path, spelling, tiny_encoder, dev_file, by_text):
    """All mentions of the file are names, which every tier finds by heart."""
    added = mention_names(tmp_path / "kb", KnowledgeBase(spelling), [dev_file])
    assert added.entry["names"] == 120
    assets = build_assets(tmp_path / "a", tmp_path / "kb", tiny_encoder, dev=dev_file)
    own, other = (one.manifest["fusion"]["chosen_on"] for one in (assets, by_text))
    assert own["mrr_by_other"]["exact alone"] == 0
    # Other text may speak of them.
    other_text = tmp_path / "other.jsonl"
    other_text.write_text(dev_file.read_text() + "\n")
    known = build_assets(tmp_path / "c", tmp_path / "kb", tiny_encoder, dev=other_text)
    assert known.manifest["fusion"]["chosen_on"]["mrr_by_other"]["exact alone"] == 1
    for name in ("ngram alone", "dense alone"):
        assert own["mrr_by_other"][name] == pytest.approx(other["mrr_by_other"][name], abs=0.1)


def test_what_text_chose_does_not_hold_for_other_names(tmp_path, spelling, unrelated, by_text):
    again = build_assets(tmp_path / "b", spelling, update=by_text.path)
    assert again.manifest["fusion"] == by_text.manifest["fusion"]
    other = build_assets(tmp_path / "c", unrelated, update=by_text.path)
    assert other.manifest["fusion"]["chosen_on"]["names"] == 120


def test_too_little_text_leaves_the_choice_to_names(tmp_path, spelling, tiny_encoder, dev_file):
    few = tmp_path / "few.jsonl"
    few.write_text("".join(dev_file.read_text().splitlines(keepends=True)[:49]))
    assets = build_assets(tmp_path / "a", spelling, tiny_encoder, dev=few)
    assert assets.manifest["fusion"]["chosen_on"]["names"] == 120


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from([-np.inf, 0.1, 0.5, 0.9])),
        min_size=1, max_size=8,
    ),
    st.integers(0, 3),
)  # fmt: skip
def test_reciprocal_ranks_count_concepts(cells, gold):
    name_concept = np.array([0, 0, 1, 1, 2, 3], dtype=np.int32)
    rows = np.array([[row for row, _ in cells]])
    fused = np.array([[score for _, score in cells]], dtype=np.float32)
    best = {}
    for row, score in cells:
        if np.isfinite(score):
            concept = int(name_concept[row])
            best[concept] = max(best.get(concept, -1), np.float32(score))
    want = 1 / (1 + sum(score > best[gold] for score in best.values())) if gold in best else 0
    (found,) = reciprocal_ranks(rows, fused, name_concept, [{gold}])
    assert found == pytest.approx(want)


class Monolingual(Oracle):
    """An oracle that reads the names of one language; others seem to be those of any concept."""

    def __init__(self, kb, lang):
        super().__init__(kb)
        self.known = {name.text for _, name in kb.iter_names() if name.lang == lang}

    def encode(self, texts):
        vectors = super().encode(texts)
        for row, text in enumerate(texts):
            nearest = process.extractOne(text, self.concept.keys())[0]
            if nearest not in self.known:
                other = xxhash.xxh32_intdigest(text.encode()) % len(set(self.concept.values()))
                vectors[row] = np.eye(self.dim, dtype=np.float32)[other]
        return vectors


@pytest.fixture(scope="module")
def two_languages(tmp_path_factory):
    """English names of a concept share no trigram; German ones differ by an ending."""
    generator = np.random.default_rng(4)
    concepts = []
    for number in range(120):
        english, german = word(generator), word(generator, GERMAN)
        names = [Name(english, "en"), Name(word(generator), "en")]
        names += [Name(german, "de"), Name(f"{german}ung", "de")]
        concepts.append(Concept(str(number), english, tuple(names)))
    path = tmp_path_factory.mktemp("languages") / "kb"
    build_kb(path, concepts)
    return path


def test_a_language_that_the_encoder_cannot_read_gives_it_no_weight(two_languages):
    kb = KnowledgeBase(two_languages)
    encoder, texts = Monolingual(kb, "en"), list(kb.iter_texts())
    facets, vectors = Facets.of(kb), encoder.encode(texts)
    dense = DenseIndex.build([vectors], len(texts), encoder.dim, "Flat")
    parts = Parts(
        kb.name_concepts(), exact=exact_index(texts),
        others={"ngram": ngram_index(texts), "dense": dense}, encoder=encoder, facets=facets,
    )  # fmt: skip
    engine = Linker.of(parts)
    fusion = choose_weights(engine, kb)
    assert fusion["weights"]["dense"] > 0
    assert fusion["languages"].get("en", fusion["weights"])["dense"] > 0
    assert fusion["languages"]["de"]["dense"] == 0
    assert sum(fusion["languages"]["de"].values()) == pytest.approx(1)
    said = fusion["chosen_on"]["languages"]["de"]
    assert said["mrr"][1] > said["mrr"][0] and said["examples"] >= 50
    assert used_tiers(fusion) == ["exact", "ngram", "dense"]
    german = [name for _, name in kb.iter_names() if name.lang == "de"]
    asked = [f"{name.text[:-1]}" for name in german[:60]]
    found = engine.retrieval.search(asked)
    common = engine.with_parts(fusion=fusion_of(fusion)).retrieval.fused(found)
    languages = LanguageWeights(facets.lang, facets.langs, fusion["languages"])
    own = engine.with_parts(fusion=fusion_of(fusion), languages=languages).retrieval.fused(found)
    spelling = fusion_of({"weights": fusion["languages"]["de"]})(found.scores)
    np.testing.assert_array_equal(own, spelling)
    assert (own != common).any()
