"""Uploaded files are stored in their folder and nowhere else, within limits; whatever else is refused with a sentence."""

import io
import os
import stat
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from annotator.domain.errors import ValidationError
from annotator.importing.uploads.staging import StagingLimits, stage_files


def pack(entries: Mapping[str, bytes], *, mode: int | None = None) -> io.BytesIO:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            info = zipfile.ZipInfo(name)
            if mode is not None:
                info.external_attr = mode << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    packed.seek(0)
    return packed


def list_stored(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()
    }


def stage(
    folder: Path, *uploads: tuple[str, bytes | io.BytesIO], limits: StagingLimits | None = None
) -> dict[str, bytes]:
    streams = [(name, io.BytesIO(data) if isinstance(data, bytes) else data) for name, data in uploads]
    stage_files(streams, folder, limits=limits or StagingLimits())
    return list_stored(folder)


@pytest.mark.parametrize(
    ("uploads", "stored"),
    [
        ([("q.csv", b"1")], {"q.csv"}),
        ([("a.md", b"1"), ("b.rst", b"2"), ("q.csv", b"3")], {"documents/a.md", "documents/b.rst", "q.csv"}),
        ([("a.md", b"1")], {"a.md"}),
        ([("rst/in/a.rst", b"1"), ("rst/b.rst", b"2"), ("rst/.git/x", b"3")], {"rst/in/a.rst", "rst/b.rst"}),
        (
            [("docs.zip", pack({"rst/a.rst": b"1", "rst/b.rst": b"2", "__MACOSX/rst/._a.rst": b"3"}))],
            {"rst/a.rst", "rst/b.rst"},
        ),
        ([("docs.zip", pack({"a.rst": b"1", "b.rst": b"2"}))], {"docs/a.rst", "docs/b.rst"}),
        ([("one.zip", pack({"run.txt": b"1"}))], {"run.txt"}),
    ],
)
def test_files_folders_and_archives_are_stored_under_their_names(
    uploads: list[tuple[str, bytes | io.BytesIO]], stored: set[str], tmp_path: Path
) -> None:
    assert set(stage(tmp_path, *uploads)) == stored


def test_names_packed_on_a_japanese_windows_are_read(tmp_path: Path) -> None:
    packed = pack({"x" * 19: b"1"})
    data = packed.getvalue().replace(b"x" * 19, "設定方法の説明.md".encode("cp932").ljust(19, b"_"))
    assert set(stage(tmp_path, ("z.zip", data))) == {"設定方法の説明.md__"}


@pytest.mark.parametrize(
    "name",
    [
        "../a.csv",
        "/etc/passwd",
        "a/../../b.csv",
        "C:\\x.csv",
        "..\\a.csv",
        "a\0.csv",
        "a\n.csv",
        "x" * 250 + ".csv",
        "\udcff.csv",
    ],
)
def test_a_name_that_is_no_file_of_the_folder_is_refused(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for upload in ((name, b"1"), ("z.zip", None)):
        if upload[1] is None and any(part in name for part in "\0\udcff"):
            continue  # no archive can name it
        data = upload[1] or pack({name: b"1", "other": b"2"})
        with pytest.raises(ValidationError, match="Rename the file"):
            stage(folder, (upload[0], data))
    assert list_stored(tmp_path) == {}


def test_a_link_in_an_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=r"z\.zip: passwd is a link or a device"):
        stage(tmp_path, ("z.zip", pack({"passwd": b"/etc/passwd"}, mode=stat.S_IFLNK | 0o777)))
    assert list_stored(tmp_path) == {}


def test_an_archive_with_a_password_is_refused(tmp_path: Path) -> None:
    data = bytearray(pack({"a.csv": b"1"}).getvalue())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(signature) + offset
        struct.pack_into("<H", data, at, struct.unpack_from("<H", data, at)[0] | 1)
    with pytest.raises(ValidationError, match="the archive has a password"):
        stage(tmp_path, ("z.zip", bytes(data)))


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    bomb = pack({"a.csv": b"0" * 3_000_000})
    limits = StagingLimits(files=10, unpacked_mb=1)
    with pytest.raises(ValidationError, match="more than 1 MB after unpacking"):
        stage(tmp_path, ("z.zip", bomb), limits=limits)


def test_an_archive_that_lies_about_its_size_writes_no_more_than_the_limit(tmp_path: Path) -> None:
    data = bytearray(pack({"a.csv": b"0" * 3_000_000}).getvalue())
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, 10)
    with pytest.raises(ValidationError):
        stage(tmp_path, ("z.zip", bytes(data)), limits=StagingLimits(files=10, unpacked_mb=1))
    assert sum(map(len, list_stored(tmp_path).values())) <= 1024 * 1024


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    limits = StagingLimits(files=2, unpacked_mb=1)
    with pytest.raises(ValidationError, match="More than 2 files"):
        stage(tmp_path, ("z.zip", pack({f"{n}.md": b"1" for n in range(3)})), limits=limits)
    with pytest.raises(ValidationError, match="More than 2 files"):
        stage(tmp_path, *((f"{n}.csv", b"1") for n in range(3)), limits=limits)


def test_an_entry_without_a_name_is_refused(tmp_path: Path) -> None:
    data = pack({"a": b"1"}).getvalue().replace(b"a", b"\0")  # names end at a zero
    with pytest.raises(ValidationError, match=r"z\.zip: the archive is damaged"):
        stage(tmp_path, ("z.zip", data))


@pytest.mark.parametrize("data", [b"", b"no archive", pack({"a": b"1"}).getvalue()[:-8], os.urandom(200)])
def test_what_is_no_archive_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=r"z\.zip: the archive is damaged"):
        stage(tmp_path, ("z.zip", data))


def test_two_files_of_one_name_and_nothing_at_all_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=r"Two files have the name q\.csv"):
        stage(tmp_path, ("q.csv", b"1"), ("q.csv", b"2"))
    with pytest.raises(ValidationError, match="no file to read"):
        stage(tmp_path, ("z.zip", pack({".hidden": b"1"})))


def test_files_that_are_no_archive_have_the_same_limit_together(tmp_path: Path) -> None:
    limits = StagingLimits(files=10, unpacked_mb=1)
    with pytest.raises(ValidationError, match=r"b\.csv: more than 1 MB"):
        stage(tmp_path, ("a.csv", b"0" * 700_000), ("b.csv", b"0" * 700_000), limits=limits)
