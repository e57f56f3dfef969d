"""Assets that are replaced while they are open: what is open stays one build, in every process."""

import gc
import multiprocessing
import os
import pickle
import random
import shutil
import threading
from itertools import count, takewhile
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Span

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.assets.assets import loaded_once
from spacy_medlink.components.mentions import MedicalMentions
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.types import Concept, Mention, Name
from tests.children import SECONDS, in_child, in_fork, in_thread, killed, started
from tests.complete_assets import write_complete_assets
from tests.tiny import TINY_RECORDS

NAMES = ["asthma", "migraine", "measles", "diabetes", "gout", "anemia", "psoriasis", "lupus"]


def build(path, tag, order):
    concepts = [Concept(id=f"{tag}:{name}", name=name, names=(Name(name),)) for name in order]
    build_kb(path / f"{tag}.kb", concepts, {"source": tag})
    return build_assets(path / tag, path / f"{tag}.kb")


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    """Two builds in which the same rows are of different concepts."""
    path = tmp_path_factory.mktemp("builds")
    return build(path, "old", NAMES), build(path, "new", NAMES[::-1])


@pytest.fixture
def live(builds, tmp_path):
    builds[0].copy_to(tmp_path / "live")
    return tmp_path / "live"


def pipeline(live):
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_linker", config={"assets": str(live)})
    return nlp


def link(nlp, words=tuple(NAMES)):
    doc = nlp.make_doc(" . ".join(words))
    doc.set_ents([Span(doc, one.i, one.i + 1, label="D") for one in doc if one.text != "."])
    return [(one.text, one.kb_id_, one._.candidates[0]["name"]) for one in nlp(doc).ents]


def of(tag, words=tuple(NAMES)):
    return [(word, f"{tag}:{word}", word) for word in words]


def same_thread(work):
    return work()


OPENED = {
    "assets": lambda linker: linker.assets,
    "kb": lambda linker: linker.kb,
    "index": lambda linker: linker.assets.ngram,
    "engine": lambda linker: linker.engine,
    "some links": lambda linker: linker.link_texts(NAMES[:2]),
}


@pytest.mark.parametrize("where", [same_thread, in_thread, in_fork])
@pytest.mark.parametrize("first", OPENED)
def test_what_is_open_stays_one_build(builds, live, where, first):
    nlp = pipeline(live)
    OPENED[first](nlp.get_pipe("medical_linker"))
    for swap in (1, 0, 1):
        builds[swap].copy_to(live)
        assert where(lambda: link(nlp)) == of("old")
    assert link(pipeline(live)) == of("new")


def test_what_is_loaded_outlives_its_directory(live):
    nlp, opened = pipeline(live), Assets(live)
    assert link(nlp) == of("old")
    shutil.rmtree(live)
    assert (
        link(nlp) == in_thread(lambda: link(nlp, NAMES)) == in_fork(lambda: link(nlp)) == of("old")
    )
    with pytest.raises(MedlinkError, match=rf"E202.*{live}.*is missing"):
        opened.engine()


def test_files_that_are_changed_in_place_are_not_mixed(builds, live):
    """As rsync, git or a careful hand would: each file is whole, but of another build."""
    opened = Assets(live)
    _ = opened.kb
    for name in ("exact/hash.npy", "name_concept.npy"):
        shutil.copy(builds[1].path / name, live / "new")
        (live / "new").replace(live / name)
    with pytest.raises(MedlinkError, match=r"E204.*changed in place"):
        _ = opened.ngram


def test_the_last_reader_removes_what_was_replaced(builds, live):
    first, second = Assets(live), Assets(live)
    builds[1].copy_to(live)
    (left,) = live.parent.glob(".live.*")
    del first
    gc.collect()
    assert left.is_dir() and second.kb["old:gout"].name == "gout"
    del second
    gc.collect()
    assert [path.name for path in live.parent.iterdir()] == ["live"]


def test_every_part_stays(tmp_path, tiny_kb, tiny_encoder):
    """Vectors, encoder, memory, ranker, reranker and calibrator too, opened after the swap."""
    whole = write_complete_assets(tmp_path / "whole", tiny_kb.path, tiny_encoder)
    build_kb(tmp_path / "kb", TINY_RECORDS[:5], {"source": "tests"})
    (tmp_path / "second").mkdir()
    other = write_complete_assets(tmp_path / "second" / "other", tmp_path / "kb", tiny_encoder)
    mentions = [Mention(text) for text in ("heart attack", "sugar", "fevers", "Zuckerkrankheiten")]
    want = whole.engine().rank(mentions, 5)
    whole.copy_to(tmp_path / "live")
    opened = Assets(tmp_path / "live")
    other.copy_to(tmp_path / "live")
    engine = opened.engine()
    assert (
        engine.parts.rescorer is not None
        and engine.parts.calibrator is not None
        and engine.parts.memory
    )
    assert [[one.row for one in own] for own in engine.rank(mentions, 5)] == [
        [one.row for one in own] for own in want
    ]
    opened.copy_to(tmp_path / "copy")
    assert Assets(tmp_path / "copy", verify=True).build == opened.build


def test_reload_takes_the_new_build(builds, live):
    nlp = pipeline(live)
    linker = nlp.get_pipe("medical_linker")
    assert link(nlp) == of("old")
    builds[1].copy_to(live)
    linker.reload()
    assert link(nlp) == in_thread(lambda: link(nlp)) == of("new")
    shutil.rmtree(live)
    with pytest.raises(MedlinkError, match="E201"):
        linker.reload()
    assert link(nlp) == of("new")


def test_reload_while_other_threads_link(builds, live):
    nlp = pipeline(live)
    linker = nlp.get_pipe("medical_linker")
    done, wrong, rounds = threading.Event(), [], [0, 0]

    def work(number):
        # A pause: two threads that never wait would keep the one that reloads from working.
        while not done.wait(0.001):
            try:
                found = [one.id.partition(":")[2] for one in linker.link_texts(NAMES)]
            except BaseException as error:
                found = repr(error)
            if found != NAMES:
                wrong.append(found)
            rounds[number] += 1

    with started(*(threading.Thread(target=work, args=(number,)) for number in range(2))):
        try:
            for number in range(12):
                builds[(number + 1) % 2].copy_to(live)
                linker.reload()
        finally:
            done.set()
    assert not wrong and min(rounds) > 0


def test_a_reloaded_starter_is_the_starter():
    nlp = spacy.blank("en")
    with pytest.warns(UserWarning, match="W101"):
        nlp.add_pipe("medical_linker")
        _ = nlp.get_pipe("medical_linker").assets
    nlp.get_pipe("medical_linker").reload()
    assert nlp.get_pipe("medical_linker").link_texts(["fever"])[0].id


def test_pickles_of_another_build_are_refused(builds, live):
    opened = Assets(live)
    sent, kb, both = pickle.dumps(opened), pickle.dumps(opened.kb), pickle.dumps(pipeline(live))
    assert len(pickle.loads(kb)) == len(NAMES)
    builds[1].copy_to(live)
    with pytest.raises(MedlinkError, match=r"E204.*reload"):
        pickle.loads(sent)
    with pytest.raises(MedlinkError, match="E221"):
        len(pickle.loads(kb))
    assert link(pickle.loads(both)) == of("new")  # it had not been opened
    builds[0].copy_to(live)
    assert pickle.loads(sent).build == opened.build
    assert pickle.loads(kb)["old:gout"].name == "gout"


def test_a_knowledge_base_stays_the_file_that_was_opened(tmp_path):
    for tag, order in (("old", NAMES), ("new", NAMES[::-1])):
        concepts = [Concept(id=f"{tag}:{one}", name=one, names=(Name(one),)) for one in order]
        build_kb(tmp_path / tag, concepts)
    shutil.copy(tmp_path / "old", tmp_path / "kb")
    kb = KnowledgeBase(tmp_path / "kb")
    os.replace(tmp_path / "new", tmp_path / "kb")
    ids = [f"old:{one}" for one in NAMES]
    assert list(kb.iter_ids()) == in_thread(lambda: list(kb.iter_ids())) == ids
    assert in_fork(lambda: list(kb.iter_ids())) == ids
    assert in_thread(lambda: in_fork(lambda: list(kb.iter_ids()))) == ids


def test_a_dictionary_stays_what_was_opened(builds, live, tmp_path):
    mentions = MedicalMentions(spacy.blank("en").vocab, assets=live)
    _ = mentions.exact
    builds[1].copy_to(live)
    assert mentions.facts.count_concepts([0, 7]) == 2
    rows, _ = mentions.exact.search(NAMES)
    assert rows.ravel().tolist() == list(range(8))
    mentions.to_disk(tmp_path / "saved")
    saved = MedicalMentions(mentions.vocab).from_disk(tmp_path / "saved")
    assert saved.exact.search(NAMES).rows.ravel().tolist() == list(range(8))
    sent = pickle.dumps(saved)
    mentions.reload()
    assert mentions.exact.search(NAMES).rows.ravel().tolist() == list(range(8))[::-1]
    mentions.to_disk(tmp_path / "saved")
    assert saved.exact.search(NAMES).rows.ravel().tolist() == list(range(8))
    with pytest.raises(MedlinkError, match="E204"):
        _ = pickle.loads(sent).exact
    saved.reload()
    assert saved.exact.search(NAMES).rows.ravel().tolist() == list(range(8))[::-1]


def test_descriptors_are_given_back(live):
    place = Path("/proc/self/fd")
    if not place.is_dir():
        pytest.skip("needs /proc")
    before = len(list(place.iterdir()))
    opened = Assets(live)
    opened.engine()
    held = len(list(place.iterdir())) - before
    assert held <= len(opened.files) + 2  # Python's maps have one each
    del opened
    gc.collect()  # what is left is in circles
    assert len(list(place.iterdir())) <= before + 1


@pytest.mark.parametrize(("number", "codes"), [(0, ["none"]), (1, ["E202", "E204"])])
def test_a_process_that_closed_all_descriptors_mixes_nothing(builds, live, number, codes):
    """As daemons do; the numbers are then those of other files."""
    opened = Assets(live)
    if number:
        builds[number].copy_to(live)
    pid = os.fork()
    if not pid:
        code = "none"
        try:
            highest = max(int(one.name) for one in Path("/proc/self/fd").iterdir())
            os.closerange(3, highest + 1)
            while os.open("/dev/zero", os.O_RDONLY) < highest:
                pass
            opened.engine()
        except MedlinkError as error:
            code = error.code
        finally:
            os._exit(0 if code in codes else 1)
    assert os.waitpid(pid, 0)[1] == 0


@pytest.mark.parametrize("part", ["kb", "name_concept", "exact", "ngram", "facets"])
def test_a_child_that_is_forked_while_a_part_is_loaded(live, part):
    """The thread that loads is not there in the child, which loads the part itself."""
    opened = Assets(live)
    loading, forked = threading.Event(), threading.Event()

    @loaded_once
    def slow_part(_):
        loading.set()
        forked.wait()

    with started(threading.Thread(target=slow_part, args=(opened,))):
        try:
            assert loading.wait(SECONDS)
            assert in_child(lambda: getattr(opened, part) is not None)
        finally:
            forked.set()


def _read_on(live, done, found, rounds, number):
    """Open, and look later, in another thread, with parts in any order; note what is seen."""
    generator = random.Random(number)
    counts = {"right": 0}
    while not done.is_set():
        try:
            opened = Assets(live)
            for part in generator.sample(["kb", "exact", "ngram", "facets"], 4):
                getattr(opened, part)
            engine = opened.engine()
            ranked = in_thread(
                lambda engine=engine: engine.rank([Mention(one) for one in NAMES], 1)
            )
            for name, ranking in zip(NAMES, ranked, strict=True):
                id = opened.kb.brief_at(ranking[0].row)[0]
                right = id.partition(":")[2] == name == opened.kb.text_at(ranking[0].name_row)
                counts["right" if right else "WRONG"] = counts.get("right", 0) + 1
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
            counts[text] = counts.get(text, 0) + 1
        rounds[number] += 1
    found.put(counts)


def swap_under_readers(builds, live, swaps, readers, method):
    context = multiprocessing.get_context(method)
    done, found, rounds = context.Event(), context.Queue(), context.Array("i", readers)
    processes = [
        context.Process(target=_read_on, args=(live, done, found, rounds, number), daemon=True)
        for number in range(readers)
    ]
    for process in processes:
        process.start()
    with killed(*processes):
        held = [(pipeline(live), "old")]
        for nlp, _ in held:
            link(nlp, NAMES[:1])
        # On a busy machine all swaps may be over before a reader has begun.
        for number in takewhile(lambda number: number < swaps or min(rounds) < 5, count()):
            assert all(process.is_alive() for process in processes), "a reader died"
            tag = ("new", "old")[number % 2]
            builds[(number + 1) % 2].copy_to(live)
            if number % 20 == 0 and number < swaps:
                held.append((pipeline(live), tag))
                _ = held[-1][0].get_pipe("medical_linker").kb
        done.set()
        seen = [found.get(timeout=SECONDS) for _ in processes]
        for process in processes:
            process.join(SECONDS)
            assert process.exitcode == 0
    for nlp, tag in held:
        assert in_thread(lambda nlp=nlp: link(nlp)) == link(nlp) == of(tag)
    return seen


SLOW = [pytest.param(200, 2, method, marks=pytest.mark.slow) for method in ("fork", "spawn")]


@pytest.mark.parametrize(("swaps", "readers", "method"), [(20, 1, "fork"), *SLOW])
def test_readers_under_swaps(builds, live, swaps, readers, method):
    for counts in swap_under_readers(builds, live, swaps, readers, method):
        assert counts.keys() == {"right"} and counts["right"] > 0, counts
