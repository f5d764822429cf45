"""A damaged backup or export is refused in words, whatever is damaged; nothing of it is written."""

import io
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_LZMA, ZipFile

import pytest

from annotator.domain.errors import BadInput, StateError
from tests.fuzz.further_targets import make_backup, make_export, read_backup_file, read_export_file

ARCHIVES: tuple[tuple[Callable[[], bytes], Callable[[Path], object]], ...] = (
    (make_backup, read_backup_file),
    (make_export, read_export_file),
)


@pytest.mark.parametrize(("make", "read"), ARCHIVES, ids=["backup", "export"])
def test_a_zip_that_lacks_its_beginning_or_its_end_is_refused(
    make: Callable[[], bytes], read: Callable[[Path], object], tmp_path: Path
) -> None:
    path, whole = tmp_path / "a.zip", make()
    for data in (whole[1:], whole[30:], whole[:-1], whole[: len(whole) // 2], b"", b"PK\x05\x06" + bytes(18)):
        path.write_bytes(data)
        with pytest.raises(BadInput):
            read(path)


@pytest.mark.parametrize(("make", "read"), ARCHIVES, ids=["backup", "export"])
def test_a_compression_that_may_need_gigabytes_is_refused(
    make: Callable[[], bytes], read: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / "a.zip"
    with ZipFile(io.BytesIO(make())) as whole, ZipFile(path, "w", ZIP_LZMA) as packed:
        for name in whole.namelist():
            packed.writestr(name, whole.read(name))
    with pytest.raises(BadInput):
        read(path)


def test_the_whole_ones_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(make_backup())
    read_backup_file(path)
    path.write_bytes(make_export())
    with pytest.raises(StateError, match="the file is good"):
        read_export_file(path)
