"""Every plan runs to its end on toy data in the original formats, with two seeds."""

import json
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.kb import KnowledgeBase
from training.papers.plan import Plan, read_plan, variables
from training.papers.published import LAYOUTS
from training.papers.reproduce import main
from training.recipe.reading import read_recipe

from . import toy

PLANS = LAYOUTS.parent / "plans"
NAMES = {"holdout.fraction": 0.5, "training.precision": "fp32", "training.epochs": 1}
AS_IT_IS = ("recipe", "max_minutes", "tables_pooling", "tables_note", "given", "device", "seeds")
FAST = {"training.precision": "fp32", "training.epochs": 1, "mentions.batch": 4}


@pytest.fixture
def data(tmp_path):
    """A directory that every variable of a plan can lead to."""
    place = tmp_path / "data"
    toy.umls(place / "umls")
    toy.snomed(place / "snomed")
    toy.biosyn(place / "biosyn")
    toy.askapatient(place / "askapatient")
    toy.medmentions(place / "medmentions")
    toy.cometa(place / "cometa")
    toy.coder_folds(place / "coder_folds")
    toy.mantra(place / "mantra")
    toy.mcn(place / "mcn")
    toy.brat(place / "cantemist")
    toy.codiesp(place / "codiesp")
    toy.temist(place / "distemist", "distemist")
    toy.temist(place / "medprocner", "medprocner")
    toy.xl_bel(place / "xl-bel")
    toy.translations(place / "muse", place / "wikipedia_titles")
    toy.diseases_database(place / "diseases_database")
    toy.own_files(place / "data")
    return place


def _overrides(plan: Plan, variables: dict[str, str]) -> list[str]:
    """Point to the toy data, and let every training be short."""
    found = [f"vars.{name}={value}" for name, value in variables.items()]
    for key, system in plan.systems.items():
        fast = {"pretrain": NAMES, "finetune": FAST, "rerank": {"training.epochs": 1}}
        if system.recipe:
            kind = read_recipe(PLANS.parent / system.recipe).recipe.kind
            settings = {**system.settings, **fast[kind]}
            if "coder" in system.recipe:
                settings["training.names"] = 64
            found.append(f"systems.{key}.settings={json.dumps(settings)}")
    return found


def _run(
    name: str, data: Path, tiny_encoder: Path, tmp_path: Path, *more: str, seeds: int = 1
) -> dict[str, Any]:
    path = PLANS / f"{name}.yml"
    plan = read_plan(path)
    given = {
        key: str(tiny_encoder)
        for key, value in variables().items()
        if value and key not in AS_IT_IS and not value.startswith("../../")
    }
    given["corpora"] = str(data)
    given |= {key: str(data / key) for key in variables() if (data / key).exists()}
    output = tmp_path / "metrics" / f"{name}.json"
    main(path, output, seeds=seeds, work=tmp_path / "work", device="cpu",
         set_=[*_overrides(plan, given), *more])  # fmt: skip
    found: dict[str, Any] = json.loads(output.read_text("utf-8"))
    page = output.with_suffix(".md").read_text("utf-8")
    assert "published" in page and "docs/papers.md" in page
    return found


def _ours(table: dict[str, Any]) -> dict[str, Any]:
    return {row["system"]: row["ours"] for row in table["rows"] if row["ours"]}


def test_what_is_missing_is_left_out_and_said_once(tmp_path, tiny_encoder):
    toy.own_files(tmp_path)
    names, gold = tmp_path / "icdo3_es.kb.jsonl.gz", tmp_path / "cantemist.dev.jsonl.gz"
    plan = {
        "layout": "xl_bel",
        "dictionaries": {"names": {"sources": [str(names)], "format": "jsonl"}},
        "corpora": {
            "there": {"dictionary": "names", "test": [str(gold)]},
            "again": {"dictionary": "names", "test": [str(gold)]},
            "gone": {"dictionary": "names", "test": ["none.jsonl"]},
        },
        "systems": {
            "bert": {"name": "BERT", "encoder": str(tiny_encoder)},
            "lost": {"name": "Lost", "encoder": str(tmp_path / "nowhere")},
            "child": {"name": "Child", "base": "lost"},
        },
    }
    path, output = tmp_path / "plan.yml", tmp_path / "out.json"
    path.write_text(json.dumps(plan), "utf-8")
    main(path, output, work=tmp_path / "work", device="cpu")
    made = json.loads(output.read_text("utf-8"))
    assert [table["corpus"] for table in made["tables"]] == ["there", "again"]
    assert list(_ours(made["tables"][0])) == ["exact", "n-gram tier", "Tf-idf", "BERT"]
    lost, child, gone = made["left_out"]
    assert lost.startswith("Lost: [E205]") and gone.startswith("gone: [E107]")
    assert child == "Child: its base is left out"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_sapbert(data, tiny_encoder, tmp_path):
    hidden = ("bert_sap", "biobert", "biobert_sap", "bluebert", "bluebert_sap", "clinicalbert",
              "clinicalbert_sap", "scibert", "scibert_sap", "biosyn", "nca", "lifted", "info_nce",
              "circle", "triplet", "cosine")  # fmt: skip
    less = [f"systems.{key}.shown=false" for key in hidden]
    found = _run("sapbert", data, tiny_encoder, tmp_path, "corpora.askapatient.folds=2", *less)
    tables = {table["corpus"]: table for table in found["tables"]}
    assert list(tables) == [
        "ncbi", "ncbi, names of ncbi", "bc5cdr-d", "bc5cdr-d, names of bc5cdr_d", "bc5cdr-c",
        "bc5cdr-c, names of bc5cdr_c", "medmentions", "askapatient", "cometa", "cometa-zeroshot",
        "weights", "similarities", "names",
    ]  # fmt: skip
    assert not found["left_out"]
    assert {"SapBERT", "SapBERT, mining off"} <= set(_ours(tables.pop("cometa-zeroshot")))
    # Figure 2: mining leaves pairs of one concept and of two that are more alike.
    figure = (tmp_path / "metrics" / "sapbert.similarities.svg").read_text("utf-8")
    assert figure.count("<polyline") == 2 * 2 * 2 and "SapBERT: cosines of hard pairs" in figure
    assert set(_ours(tables.pop("similarities"))["SapBERT"]) == {"all pairs", "hard pairs"}
    assert "nearest is of the concept" in _ours(tables.pop("names"))["SapBERT"]["full"]
    assert (tmp_path / "metrics" / "sapbert.names.svg").is_file()  # figures 1 and 3
    weights = {name: own["trained"] for name, own in _ours(tables.pop("weights")).items()}
    wide, narrow = (weights[f"SapBERT (adapter {part} %)"] for part in (13, 1))
    assert weights["SapBERT"]["per cent"] == 100 > wide["per cent"] > narrow["per cent"]
    for table in tables.values():
        ours = _ours(table)
        for system in ("SapBERT", "SapBERT, fine-tuned", "SapBERT (LoRA)", "BioSyn from SapBERT"):
            assert ours[system]["full"]["n"] > 20


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_coder(data, tiny_encoder, tmp_path):
    hidden = ("released", "released_e", "released_all", "released_all_e",
              "biobert_tuned", "all_tuned", "ms_tuned",
              "ms_sty_tuned", "ms_rel_sty_tuned", "bert_e", "bert_tuned", "clinicalbert",
              "clinicalbert_e", "clinicalbert_tuned", "pubmedbert", "pubmedbert_e",
              "pubmedbert_tuned", "abstracts", "abstracts_e", "abstracts_tuned")  # fmt: skip
    less = [f"systems.{key}.shown=false" for key in hidden]
    concept = next(one for one in toy.concepts() if {"es", "de"} <= one.names.keys())
    less.append(f"corpora.languages.concept={concept.cui}")
    found = _run("coder", data, tiny_encoder, tmp_path, *less, seeds=2)
    assert not found["left_out"]
    tables = {table["corpus"]: table for table in found["tables"]}
    mantra = [name for name in tables if name.startswith("mantra-")]
    assert set(tables) == {
        "cadec", "psytar", *mantra, "mcsm", "mcsm, names of icd10cm", "relations", "names",
        "languages",
    }  # fmt: skip
    # The mean of the folds over all of their mentions, each target with one name.
    assert _ours(tables["cadec"])["BioBERT"]["full"]["n"] == len(list(toy.said("test")))
    (kb,) = (tmp_path / "work" / "kb").glob("cadec-*.kb")
    assert KnowledgeBase(kb).n_names == len(toy.concepts())
    # Table 7: a line for each language of the concept.
    lines = tables["languages"]["lines"]
    assert len([line for line in lines if "CODER_ALL, " in line]) == len(concept.names) - 1
    ours = next(row for row in tables["cadec"]["rows"] if row["system"] == "CODER_ENG")
    assert ours["against"] == "BioBERT" and 0 < ours["differences"]["full"]["p"] <= 1
    assert len(mantra) == 10
    # Figure 3: a panel for each system, with a dot for each concept of the types.
    figure = (tmp_path / "metrics" / "coder.mcsm.names_of_icd10cm.svg").read_text("utf-8")
    assert "<circle" in figure and "CODER_ENG, MS" in figure
    ablations = {"CODER_ENG, MS", "CODER_ENG, MS + STY", "CODER_ENG, MS + REL + STY"}
    for name in ("cadec", "psytar", "mcsm", "relations"):
        ours = _ours(tables[name])
        assert ablations | {"CODER_ENG", "CODER_ENG, term-relation-term"} <= set(ours)
    assert {"CODER_ENG cls", "CODER_ENG e", "BioBERT e"} <= set(_ours(tables["cadec"]))
    assert "acc@1 deviation" in _ours(tables["cadec"])["CODER_ENG"]["full"]
    assert set(_ours(tables["relations"])["CODER_ENG"]) == {"frozen", "tuned"}
    assert {"T047", "T047 sd", "T047 deviation"} <= set(_ours(tables["mcsm"])["CODER_ENG"]["full"])
    assert set(_ours(tables["mantra-fr-emea"])["CODER_ALL"]["full"]) == {"n", "F1", "F1 deviation"}


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_medical_crossing(data, tiny_encoder, tmp_path):
    changes = [f"vars.data={data}/data", f"vars.codiesp_codes={data}/codes.tsv"]
    rows = [f"{one.code}\t{one.names['es'][0]}\tx" for one in toy.concepts()]
    (data / "codes.tsv").write_text("\n".join(rows), "utf-8")
    found = _run("medical_crossing", data, tiny_encoder, tmp_path, *changes)
    assert not found["left_out"]
    tables = {table["corpus"]: _ours(table) for table in found["tables"]}
    assert len(tables) == 8
    crossed = {"SapBERT+mcn", "SapBERT+mcn-fz4", "SapBERT+mcn-fz10"}
    bare = {"BERT", "BETO", "BioBERT-esp"}
    assert crossed | {"SapBERT+target", "Tf-idf"} | bare <= set(tables["cantemist"])
    assert set(tables["cantemist"]["SapBERT+mcn"]) >= {
        "full", "filtered_train", "filtered_0.2_train", "filtered_dictionary",
        "filtered_0.2_dictionary", "unseen_codes",
    }  # fmt: skip
    assert crossed <= set(tables["mantra-de"]) and "SapBERT+target" in tables["mcn"]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_xl_bel(data, tiny_encoder, tmp_path):
    kept = {
        "sapbert", "own_es", "own_de", "own_all_es", "own_all_de", "mbert", "mbert_all",
        "mbert_both_de", "mbert_both_ko", "mbert_both_at_once", "mbert_en_own_es",
        "mbert_en_own_de", "xlmr", "xlmr_en_wt_de",
    }  # fmt: skip
    systems = read_plan(PLANS / "xl_bel.yml").systems
    less = [f"systems.{key}.shown=false" for key in systems if key not in kept]
    found = _run("xl_bel", data, tiny_encoder, tmp_path, *less, seeds=2)
    # Of Korean there are no translations.
    (lost,) = found["left_out"]
    assert "E407" in lost and "between English and ko" in lost
    (table,) = found["tables"]
    ours = _ours(table)
    assert table["parts"][:4] == ["de", "en", "es", "avg"]
    assert "Ranks count entries." in table["note"]
    both = "mBERT + SAP all_syn + wt + muse"
    assert {both, f"{both}, all languages at once", "XLM-R + SAP en_syn + wt"} <= set(ours)
    assert set(ours[both]) == {"de"} < set(ours[f"{both}, all languages at once"])
    (learned,) = (tmp_path / "work" / "gold").glob("wt+muse-de.tsv")
    assert len(learned.read_text("utf-8").splitlines()) == 4
    for name in ("own BERT", "own BERT + SAP all_syn", "mBERT + SAP en+own_syn"):
        own = ours[name]
        assert set(own) == {"de", "es", "avg"}
        assert own["avg"]["acc@1"] == pytest.approx((own["de"]["acc@1"] + own["es"]["acc@1"]) / 2)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_clinlinker(data, tiny_encoder, tmp_path):
    hidden = ("xlmr_ce", "xlmr_large", "xlmr_large_ce", "base_ce", "distemist_ce")
    less = [f"systems.{key}.shown=false" for key in hidden]
    found = _run("clinlinker", data, tiny_encoder, tmp_path, *less)
    assert not found["left_out"]
    tables = {table["corpus"]: _ours(table) for table in found["tables"]}
    assert {"Spanish-SapBERT-oc + CE", "DisTEMIST-biencoder", "MedProcNER-biencoder"} <= set(
        tables["distemist"]
    )
    assert set(tables) == {"distemist", "medprocner"}
    assert "acc@100" in tables["distemist"]["Spanish-SapBERT + CE"]["full"]
    # What orders anew was trained, so that it has other figures than what finds.
    pairs = [
        (own[name], own[name.split(" + ")[0]])
        for own in tables.values() for name in own if " + CE" in name
    ]  # fmt: skip
    assert len(pairs) == 2 * 4 and all(after != before for after, before in pairs)
    assert (tmp_path / "metrics" / "clinlinker.distemist.svg").is_file()
    # Nothing is withheld, since nothing is chosen by it.
    assert not list((tmp_path / "work" / "gold").glob("*.train-dev.jsonl"))
    # The cross-encoder learns from mentions of the training part alone, without the gazetteer.
    (path,) = (tmp_path / "work" / "kb").glob("distemist-mentions-*.kb")
    said = {one.mention for one in toy.said("train", "es")}
    assert {name.text for concept in KnowledgeBase(path) for name in concept.names} == said


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_tables(data, tiny_encoder, tmp_path):
    found = _run(
        "tables",
        data,
        tiny_encoder,
        tmp_path,
        "vars.max_minutes=1",
        f"vars.data={data}/data",
        seeds=2,
    )
    assert [table["corpus"] for table in found["tables"]] == ["cantemist", "ncbi", "bc5cdr-d"]
    ours = _ours(found["tables"][0])
    assert "acc@1 deviation" in ours["SapBERT+target"]["full"]
