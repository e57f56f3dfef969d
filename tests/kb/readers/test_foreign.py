"""Files of other kinds: each is named, with what to give instead, or read without `--from`."""

import gzip
import zipfile
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import formats, read
from spacy_medlink.kb.readers.foreign import format_of, what_is
from tests.tables import table


def _cases() -> dict[str, bytes]:
    lines = Path(__file__).with_name("foreign.tsv").read_text("utf-8").splitlines()[1:]
    pairs = (line.split("\t", 1) for line in lines)
    return {
        said: start.encode().decode("unicode_escape").encode("latin-1") for said, start in pairs
    }


FOREIGN = _cases()
SAMPLES = Path(__file__).parents[1] / "sample_files"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("said", FOREIGN)
def test_foreign_files_are_named_by_every_reader(tmp_path: Path, said: str, packed: bool) -> None:
    path = tmp_path / "file.obo"
    path.write_bytes(gzip.compress(FOREIGN[said]) if packed else FOREIGN[said])
    for format in formats():
        with pytest.raises(MedlinkError, match=r"E160.*it is.* Give ") as caught:
            list(read(format, path))
        assert said in caught.value.message
    with pytest.raises(MedlinkError, match="E160"):
        format_of(path)


@table(__file__, "archives_are_named_by_what_they_hold")
def test_archives_are_named_by_what_they_hold(tmp_path: Path, member: str, said: str) -> None:
    with zipfile.ZipFile(tmp_path / "file.zip", "w") as archive:
        archive.writestr(member, "")
    with pytest.raises(MedlinkError, match=rf"E160.*{said}"):
        list(read("csv", tmp_path / "file.zip"))


@table(__file__, "formats_are_guessed")
@pytest.mark.parametrize("way", ["plain", "gzip", "zip"])
def test_formats_are_guessed(
    tmp_path: Path, name: str, sample: str, content: str, format: str, way: str
) -> None:
    content = (SAMPLES / sample).read_text("utf-8") if sample else content
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(content.encode()) if way == "gzip" else content.encode())
    path = path if content else path.parent
    if way == "zip":
        if content:
            pytest.skip("a release")
        path = tmp_path / "release.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, content)
    assert format_of(path) == format


def test_what_nothing_tells(tmp_path: Path) -> None:
    path = tmp_path / "x.dat"
    path.write_text("some words\n")
    with pytest.raises(MedlinkError, match=r"E132.*'some words'.*--from FORMAT"):
        format_of(path)
    with pytest.raises(MedlinkError, match="E107"):
        format_of(tmp_path / "none")
    assert what_is(path) is None
