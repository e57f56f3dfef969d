"""Configs of saved pipelines name the assets that are meant; spaCy assembles and packages them."""

import pickle
import shutil

import pytest
import spacy
import srsly
from spacy.cli.assemble import assemble_cli
from spacy.cli.package import package

from spacy_medlink.assets import Assets
from spacy_medlink.errors import MedlinkError
from tests.children import python
from tests.pipelines import doc_with, pipeline

FEVER = [("fever", "HP:0001945")]


def links(nlp, text="a fever"):
    return [(ent.text, ent.kb_id_) for ent in nlp(text).ents]


@pytest.fixture
def source(tmp_path, tiny_assets):
    """Assets of one's own, which can be moved."""
    return Assets(shutil.copytree(tiny_assets.path, tmp_path / "source"))


def own_assets(source):
    """A pipeline whose config names no assets, though it has some of its own."""
    nlp = spacy.blank("en")
    for name in ("medical_mentions", "medical_linker"):
        nlp.add_pipe(name).initialize(lambda: [], nlp=nlp, assets=source.path)
    return nlp


def named(nlp):
    return [part["assets"] for part in nlp.config["components"].values()]


def refused(config, component):
    """Whether a pipeline of a config alone refuses to link by the starter."""
    nlp = spacy.util.load_model_from_config(config)
    other = {"medical_mentions", "medical_linker"} - {component}
    doc = doc_with(nlp, "a fever", "fever")
    with nlp.select_pipes(disable=list(other)), pytest.raises(MedlinkError, match="E330"):
        nlp(doc)


@pytest.mark.parametrize("component", ["medical_mentions", "medical_linker"])
def test_a_config_does_not_mean_the_starter_for_assets_of_its_own(source, tmp_path, component):
    nlp = own_assets(source)
    refused(nlp.config, component)
    nlp.to_disk(tmp_path / "saved")
    shutil.rmtree(source.path)
    loaded = spacy.load(tmp_path / "saved")
    assert links(loaded) == FEVER
    refused(loaded.config, component)


def test_a_pipeline_of_the_config_takes_the_data(source, tmp_path):
    """As spaCy documents it: first the pipeline of the config, then its bytes or files."""
    nlp = own_assets(source)
    nlp.to_disk(tmp_path / "saved")
    blank = spacy.util.load_model_from_config
    assert links(blank(nlp.config).from_bytes(nlp.to_bytes())) == FEVER
    assert links(blank(nlp.config).from_disk(tmp_path / "saved")) == FEVER
    assert links(pickle.loads(pickle.dumps(nlp))) == FEVER
    other = {"components": {name: {"assets": str(source.path)} for name in nlp.pipe_names}}
    assert links(spacy.load(tmp_path / "saved", config=other)) == FEVER


def test_a_reference_without_its_assets_names_no_place_that_is_none(source, tmp_path):
    nlp = own_assets(source)
    nlp.get_pipe("medical_linker").copy_assets = False
    nlp.to_disk(tmp_path / "saved")
    shutil.rmtree(source.path)
    with pytest.raises(MedlinkError, match="E309") as caught:
        spacy.load(tmp_path / "saved")
    assert "saved with the pipeline holds" not in str(caught.value)


def test_the_config_of_the_starter_means_the_starter(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions", config={})
    nlp.add_pipe("medical_linker")
    with pytest.warns(UserWarning, match="W101"):
        nlp.to_disk(tmp_path / "saved")
        loaded = spacy.load(tmp_path / "saved")
        assert named(loaded) == [None, None]
        assert links(spacy.util.load_model_from_config(loaded.config), "diabetes")


def test_a_renamed_linker_is_known_by_its_new_name(source, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_linker")
    nlp.rename_pipe("medical_linker", "mine")
    nlp.get_pipe("mine").initialize(lambda: [], nlp=nlp, assets=source.path)
    assert named(nlp) == ["saved with the pipeline"]


ASSEMBLE = """
[nlp]
lang = "en"
pipeline = ["medical_mentions", "medical_linker"]

[components]

[components.medical_mentions]
factory = "medical_mentions"

[components.medical_linker]
factory = "medical_linker"
top_k = 3

[initialize]

[initialize.components]

[initialize.components.medical_mentions]
assets = "{assets}"

[initialize.components.medical_linker]
assets = "{assets}"
"""


def test_spacy_assemble(tmp_path, source):
    config = tmp_path / "config.cfg"
    config.write_text(ASSEMBLE.format(assets=source.path.as_posix()), encoding="utf8")

    class Context:
        args: list[str] = []

    assemble_cli(Context(), config, tmp_path / "out", None, False)
    shutil.rmtree(source.path)
    nlp = spacy.load(tmp_path / "out")
    assert links(nlp) == FEVER
    assert nlp.get_pipe("medical_linker").top_k == 3


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # spaCy leaves its files open
def test_spacy_package(tmp_path, source):
    """The package links without its source, and installs what it needs to."""
    pipeline(source).to_disk(tmp_path / "saved")
    (tmp_path / "out").mkdir()
    package(
        tmp_path / "saved", tmp_path / "out", name="tiny", version="0.0.1", create_sdist=False,
        create_wheel=False, silent=True,
    )  # fmt: skip
    shutil.rmtree(source.path)
    root = tmp_path / "out" / "en_tiny-0.0.1"
    requirements = srsly.read_json(root / "meta.json")["requirements"]
    assert [one for one in requirements if one.startswith("spacy-medlink")]
    # What installing does first: it puts meta.json where the package looks for it.
    python("setup.py", "--name", cwd=root, code=None)
    code = "import en_tiny; print(en_tiny.load()('a fever').ents[0].kb_id_)"
    ended = python("-W", "ignore", "-c", code, cwd=root)
    assert ended.stdout.strip() == "HP:0001945"
