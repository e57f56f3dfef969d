"""What all tests share: no network, a random encoder and a dozen real concepts."""

import faulthandler
import gc
import os
from collections.abc import Iterator
from pathlib import Path

# Set before torch or tokenizers are imported anywhere.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
# Two threads where one process runs all tests, so that a child that hangs on its parent's threads
# is caught. One each where processes share the tests and the cores: there two take several times
# as long, and those tests of children that set two threads themselves still catch it.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["OMP_NUM_THREADS"] = "1"  # it inherits what the first process has set below
os.environ.setdefault("OMP_NUM_THREADS", "2")
# Waiting threads sleep instead of spinning, which on a busy machine takes minutes.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key  # of the version that is pinned
from hypothesis import settings

from spacy_medlink.assets import Assets
from spacy_medlink.kb import KnowledgeBase
from tests import network
from tests.tiny import TINY_RECORDS, assets_of, concepts_of, kb_of, write_tiny_encoder

ROOT = Path(__file__).parents[1]

# Normally the same inputs every time, so that a change is judged by itself and not by luck;
# new inputs each time with HYPOTHESIS_PROFILE=explore, as `make test-all` does.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


# The last resort against a hang. When pytest-timeout cannot end a test, faulthandler tells what all
# threads do and ends the process: `faulthandler_timeout` in pyproject.toml. That is one time for
# all tests, is off after a failure, and does not cover the end of the run: hence what follows.
GRACE = 120  # seconds that pytest-timeout has to end a test
_STDERR = pytest.StashKey[int]()


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    # Stays open: pytest closes its own before the process ends.
    config.stash[_STDERR] = os.dup(config.stash[fault_handler_stderr_fd_key])


def _end_process_after(seconds: float, config: pytest.Config) -> None:
    faulthandler.dump_traceback_later(seconds, exit=True, file=config.stash[_STDERR])


def _watch(item: pytest.Item) -> None:
    own = item.get_closest_marker("timeout")
    seconds = own.args[0] if own else float(item.config.getini("timeout"))
    _end_process_after(seconds + GRACE, item.config)


def pytest_collection_finish() -> None:
    import spacy.language

    from tests.tokenizer import PatientTokenizer

    spacy.language.Tokenizer = PatientTokenizer
    # What imports leave behind stays until the end. To look through it for garbage again and again
    # would take a tenth of the time of all tests.
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    _watch(item)


def pytest_unconfigure(config: pytest.Config) -> None:
    _end_process_after(GRACE, config)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    _watch(item)
    if item.get_closest_marker("gpu"):
        import torch

        if not torch.cuda.is_available():
            pytest.skip("needs a CUDA device")


@pytest.fixture(scope="session", autouse=True)
def _network_guard() -> Iterator[None]:
    with network.guarded():
        yield


@pytest.fixture(autouse=True)
def network_attempts(_network_guard: None) -> Iterator[list[str]]:
    """Attempts of this test to reach another machine; any that is left at the end fails it.

    The attempt itself raises too, but a library may catch that and carry on.
    """
    network.ATTEMPTS.clear()
    yield network.ATTEMPTS
    if network.ATTEMPTS:
        pytest.fail(f"tried to reach the network: {', '.join(network.ATTEMPTS)}")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Directory of the real corpora and terminologies, which do not come with the repository."""
    path = Path(os.environ.get("MEDLINK_DATA", ROOT.parent / "shared" / "data"))
    if not path.is_dir():
        pytest.skip(f"no data at {path}: set MEDLINK_DATA")
    return path


@pytest.fixture(scope="session")
def tiny_kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    """The concepts of `tests.tiny`; the file `tiny_kb.path` is there for the whole session."""
    path = tmp_path_factory.mktemp("tiny_kb") / "tiny.kb"
    return kb_of(path, TINY_RECORDS, {"source": "tests", "version": "1"})


@pytest.fixture(scope="module")
def assets(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Assets:
    """Assets of RECORDS of the module, or of its NAMES; do not write into them.

    They have vectors if the module says that they are ENCODED, or has WEIGHTS.
    """
    own = vars(request.module)
    records = own["RECORDS"] if "RECORDS" in own else concepts_of(own["NAMES"])
    is_encoded = {"ENCODED", "WEIGHTS"} & own.keys()
    encoder = request.getfixturevalue("tiny_encoder") if is_encoded else None
    return assets_of(tmp_path_factory.mktemp("assets"), records, encoder, own.get("WEIGHTS"))


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Hugging Face directory with a random one-layer BERT; do not write into it."""
    return write_tiny_encoder(tmp_path_factory.mktemp("tiny_encoder"))


@pytest.fixture(scope="session")
def tiny_assets(
    tmp_path_factory: pytest.TempPathFactory, tiny_kb: KnowledgeBase, tiny_encoder: Path
) -> Assets:
    """Assets with all three tiers over `tiny_kb` and `tiny_encoder`; do not write into them.

    They recommend to link everything: a random encoder is rarely sure, and most tests are about
    links, not about NIL (`tests/fitting/test_name_calibration.py` is).
    """
    from spacy_medlink.assets import build_assets
    from spacy_medlink.assets.variant import write_variant

    place = tmp_path_factory.mktemp("tiny_assets")
    built = build_assets(place / "built", tiny_kb.path, tiny_encoder)
    facts = {**built.manifest["calibrator"], "threshold": 0.0}
    return write_variant(built, place / "assets", {"calibrator": facts})
