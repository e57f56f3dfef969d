"""What is not there is told at once: no library retries for minutes."""

import shutil
from importlib.util import find_spec
from typing import Any

import huggingface_hub
import pytest
from huggingface_hub import HfApi, constants, utils
from huggingface_hub.errors import RepositoryNotFoundError

from spacy_medlink.encoders import place
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.place import is_here, is_path
from spacy_medlink.errors import MedlinkError

NAME = "some-org/some-model"


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "source", ["./a", "../a/b", "/a/b", "~/a", "a/b/c", "a/", "a\\b", ".hidden", "a b", ""]
)
def test_what_is_no_name_is_a_path(work, source):
    assert is_path(source)


@pytest.mark.parametrize("source", ["bert-base-uncased", "org/model", "org/model.v1_x"])
def test_names(work, source):
    assert not is_path(source)
    (work / source).mkdir(parents=True)
    assert is_path(source), "it is there"


def test_a_directory_that_is_there_in_part_is_meant_as_one(work):
    (work / "models").mkdir()
    with pytest.raises(MedlinkError, match=r"E205.*models/sapbert: no such path"):
        is_here("models/sapbert")
    (work / "models" / "sapbert").mkdir()
    with pytest.raises(MedlinkError, match=r"E205.*the directory has no config\.json"):
        is_here("models/sapbert")


@pytest.fixture
def online(monkeypatch):
    """The Hub may be asked; sessions opened meanwhile, which ask too, are forgotten after."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    registry = "huggingface_hub.utils._detect_agent"
    if find_spec(registry):  # since 2: once a day the library asks which programs may call it
        monkeypatch.setattr(f"{registry}._fetch_registry", lambda: None)
    forget = getattr(utils, "reset_sessions", None) or utils.close_session  # before 1.0, since
    forget()
    yield
    forget()


@pytest.fixture
def asked(monkeypatch, online):
    """Names that the Hub was asked for, which cannot be reached."""
    names: list[str] = []

    def refuse(self: HfApi, name: str, **settings: Any) -> None:
        names.append(name)
        raise ConnectionError("no network")

    monkeypatch.setattr(HfApi, "model_info", refuse)
    return names


def test_a_hub_out_of_reach_is_asked_once(asked, work):
    with pytest.raises(MedlinkError, match=r"E205.*the Hub cannot be reached \(ConnectionError\)"):
        BiEncoder.load(NAME)
    assert asked == [NAME]


def test_the_network_is_tried_once(online, work, network_attempts):
    """Of the whole way down, no library retries."""
    with pytest.raises(MedlinkError, match="E205"):
        BiEncoder.load(NAME)
    assert len(network_attempts) == 1
    network_attempts.clear()


def test_a_model_that_the_hub_does_not_have(monkeypatch, online, work):
    def unknown(self: HfApi, name: str, **settings: Any) -> None:
        raise RepositoryNotFoundError.__new__(RepositoryNotFoundError)

    monkeypatch.setattr(HfApi, "model_info", unknown)
    with pytest.raises(MedlinkError, match=r"E205.*the Hub has no such model"):
        is_here(NAME)


def test_offline_by_choice_asks_nobody(asked, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(MedlinkError, match=r"E205.*HF_HUB_OFFLINE"):
        is_here(NAME)
    assert asked == []


def test_what_the_cache_has_needs_no_network(asked, work, tiny_encoder, monkeypatch):
    snapshot = work / "hub" / "models--some-org--some-model" / "snapshots" / "0123"
    shutil.copytree(tiny_encoder, snapshot)
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text("0123")
    find = huggingface_hub.try_to_load_from_cache
    monkeypatch.setattr(
        huggingface_hub,
        "try_to_load_from_cache",
        lambda *given: find(*given, cache_dir=work / "hub"),
    )
    assert is_here(NAME)
    assert asked == [NAME]


def test_a_hub_in_reach_is_left_to_the_libraries(monkeypatch):
    monkeypatch.setattr(place, "_unavailable", lambda name: "")
    assert not is_here(NAME)
