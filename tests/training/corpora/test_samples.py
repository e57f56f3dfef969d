"""What comes out of every sample, line by line, and what is no file of its corpus."""

import json

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.gold import read_gold
from tests.tables import table
from tests.training.corpora.samples import SAMPLES, SOUND, write_files
from tests.training.papers import toy
from training.corpora import coder
from training.corpora.convert import convert
from training.corpora.registry import CORPORA, find_corpus
from training.corpora.tally import Tally

RUNS = [(sample.files, run) for sample in SAMPLES for run in sample.runs]
NAMES = [f"{sample.shows}, {run.corpus}" for sample in SAMPLES for run in sample.runs]


def check(records, tally):
    """Check that lines can be written and read back, and that offsets are exact."""
    for record in records:
        assert json.loads(json.dumps(record).encode()) == record
        "".join(map(str, record.values())).encode()  # no halves of characters
        for mention in record.get("mentions", [record]):
            assert mention["mention"].strip()
            assert all(id.strip() and id.isprintable() for id in mention["ids"])
            if "start" in mention and "text" in record:
                there = record["text"][mention["start"] : mention["end"]]
                assert there == mention["mention"]
    assert tally.documents == len(records)
    told = "\n".join(tally.report())
    assert all(f"{count:,} {problem}" in told for problem, count in tally.faults.items())


def converted(folder, run):
    """Convert files, and check that the gold reader takes all lines. RETURNS: lines, report."""
    output, tally = folder / "gold.jsonl", Tally(run.is_strict)
    convert(find_corpus(run.corpus), folder / "source" / run.part, output, tally, run.splits)
    lines = output.read_text(encoding="utf8").splitlines()
    check([*map(json.loads, lines)], tally)
    gold = read_gold(output, strict=True)
    assert tally.mentions == sum(len(document.mentions) for document in gold)
    return lines, list(tally.report())


@pytest.mark.parametrize(("files", "run"), RUNS, ids=NAMES)
def test_what_comes_out(tmp_path, files, run):
    write_files(tmp_path / "source", files)
    if run.said.startswith("[E"):
        with pytest.raises(MedlinkError) as caught:
            converted(tmp_path, run)
        assert str(caught.value).replace(f"{tmp_path}/", "").startswith(run.said)
    else:
        lines, report = converted(tmp_path, run)
        said = [*lines, *(line.replace(f"{tmp_path}/", "") for line in report)]
        assert "\n".join(said) == run.said


def test_every_converter_has_a_sample_without_a_fault():
    assert {
        run.corpus for sample in SAMPLES for run in sample.runs if run.is_strict
    } == CORPORA.keys()
    assert len(SOUND) > 20


# Files that are not what their names say

FILES = {
    "xl-bel": "fi_1k_test_query.txt",
    "xl-bel-v1": "fi_1k_test_query_with_context.txt",
    "askapatient": "AskAPatient.fold-0.test.txt",
}
OTHERS = [
    "<!DOCTYPE html>\n<title>Not found</title>\n",
    "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
    "yskä||C0010200\n",
    "Aching\tAching\t102491009\n",
    "\nC0010200||\nC0010200||yskä\n",
    "",
]


@pytest.mark.parametrize("corpus", FILES)
@pytest.mark.parametrize("text", OTHERS)
def test_a_file_that_is_not_what_its_name_says(tmp_path, corpus, text):
    write_files(tmp_path, {FILES[corpus]: text})
    expected = rf"(?s)E160.*{FILES[corpus]}.* (line .*https:|Git LFS)"
    with pytest.raises(MedlinkError, match=expected):
        convert(find_corpus(corpus), tmp_path, tmp_path / "gold.jsonl", Tally())


def test_targets_of_folds_have_one_name_each(tmp_path):
    toy.coder_folds(tmp_path)
    targets = coder.read_targets(tmp_path / "psytar_disjoint_folds")
    assert [(one.id, one.name) for one in targets] == [
        (one.code, one.names["en"][0]) for one in toy.concepts()
    ]
    (tmp_path / "xl-bel").mkdir()
    with pytest.raises(MedlinkError, match=r"E160.*no folder in it has a standard.txt"):
        coder.read_targets(tmp_path / "xl-bel")


@table(__file__, "what_is_no_fold_is_said_with_its_line")
def test_what_is_no_fold_is_said_with_its_line(tmp_path, file, text, said):
    toy.coder_folds(tmp_path)
    path = tmp_path / "cadec" / file
    path.unlink() if text is None else path.write_text(text, "utf-8")
    with pytest.raises(MedlinkError, match=rf"(?s){said}"):
        list(coder.read(tmp_path / "cadec", Tally(strict=True)))
