import gzip
import io
import random
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from tests.mutants import told
from training.fetching.unpack import unpack


def _zip(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def _tar(path: Path, *members: tarfile.TarInfo, data: bytes = b"") -> Path:
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as archive:
        for member in members:
            member.size = len(data) if member.isreg() else 0
            archive.addfile(member, io.BytesIO(data))
    return path


def _contents(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


def test_zip(tmp_path):
    archive = _zip(tmp_path / "a.zip", {"top/é.txt": b"1", "top/empty/": b"", "b": b"2"})
    unpack(archive, tmp_path / "out")
    assert _contents(tmp_path / "out") == {"top/é.txt": b"1", "b": b"2"}
    assert (tmp_path / "out/top/empty").is_dir()


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tgz"])
def test_tar(tmp_path, name):
    folder = tarfile.TarInfo("./x/y")
    folder.type = tarfile.DIRTYPE
    archive = _tar(tmp_path / name, folder, tarfile.TarInfo("x/y/z.txt"), data=b"data")
    unpack(archive, tmp_path / "out")
    assert _contents(tmp_path / "out") == {"x/y/z.txt": b"data"}


def test_single_files(tmp_path):
    (tmp_path / "a.obo.gz").write_bytes(gzip.compress(b"text"))
    (tmp_path / "corpus.txt.gz").write_bytes(gzip.compress(b"text"))
    (tmp_path / "b.txt").write_bytes(b"plain")
    _zip(tmp_path / "c.xlsx", {"xl/workbook.xml": b"<x/>"})
    for name in ("a.obo.gz", "corpus.txt.gz", "b.txt", "c.xlsx"):
        unpack(tmp_path / name, tmp_path / "out")
    # Readers take .txt.gz, and know the workbook and the corpus by these names.
    assert set(_contents(tmp_path / "out")) == {"a.obo", "corpus.txt.gz", "b.txt", "c.xlsx"}


@pytest.mark.parametrize("name", ["../evil", "/evil", "x/../../evil"])
def test_nothing_leaves_the_directory(tmp_path, name):
    unpack(_zip(tmp_path / "a.zip", {"good": b"", name: b"x"}), tmp_path / "deep" / "out")
    tar = _tar(tmp_path / "a.tar", tarfile.TarInfo(name), data=b"x")
    try:
        unpack(tar, tmp_path / "deep" / "out")
    except MedlinkError as error:
        assert error.code == "E714"
    assert all("out" in path.parts for path in tmp_path.rglob("*evil*"))


@pytest.mark.parametrize("type", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_out_of_it_and_devices_are_refused(tmp_path, type):
    member = tarfile.TarInfo("link")
    member.type, member.linkname = type, "/etc/passwd"
    with pytest.raises(MedlinkError, match="E714"):
        unpack(_tar(tmp_path / "a.tar", member), tmp_path / "out")


def test_a_link_in_zip_is_a_file(tmp_path):
    member = zipfile.ZipInfo("link")
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(member, "/etc/passwd")
    unpack(tmp_path / "a.zip", tmp_path / "out")
    assert not (tmp_path / "out/link").is_symlink()


def test_encrypted(tmp_path):
    archive = _zip(tmp_path / "a.zip", {"secret": b"x"})
    data = bytearray(archive.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    archive.write_bytes(data)
    with pytest.raises(MedlinkError, match=r"E714.*encrypted"):
        unpack(archive, tmp_path / "out")


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz", "obo.gz"])
def test_damaged(tmp_path, kind):
    """Whatever is wrong with an archive is a coded error, or goes unnoticed by its checksums."""
    members = {f"f{n}.txt": random.Random(n).randbytes(50) * 20 for n in range(5)}
    path = tmp_path / f"a.{kind}"
    if kind == "zip":
        _zip(path, members)
    elif kind == "obo.gz":
        path.write_bytes(gzip.compress(b"".join(members.values())))
    else:
        _tar(path, *map(tarfile.TarInfo, members), data=b"data" * 500)
    data, chance = path.read_bytes(), random.Random(kind)
    failed = 0
    for number in range(150):
        broken = bytearray(data)
        for _ in range(chance.choice((1, 3))):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        path.write_bytes(broken[: chance.randrange(len(data))] if number % 2 else broken)
        out = tmp_path / f"out{number}"
        failed += bool(told(lambda out=out: unpack(path, out), {"E714"})[1])
    assert failed > 20
