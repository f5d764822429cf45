"""A damaged file of vectors is refused in words."""

import io
import shutil
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from annotator.domain.errors import BadInput
from annotator.pooling.retrievers.vector_files import open_vectors


@pytest.mark.parametrize(
    "damage", [b"'shape'\0", b"@lse(((", b"'\n("], ids=["a zero", "a bracket", "a quote"]
)
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_an_array_with_a_damaged_header_is_refused(suffix: str, damage: bytes, tmp_path: Path) -> None:
    file, path = io.BytesIO(), tmp_path / f"v{suffix}"
    rows = np.ones((2, 2), dtype=np.float32)
    np.save(file, rows) if suffix == ".npy" else np.savez(file, ids=np.array(["a", "b"]), vectors=rows)
    path.write_bytes(file.getvalue().replace(b"False", damage[:5].ljust(5), 9))
    with pytest.raises(BadInput), open_vectors(path):
        pass


def test_an_archive_with_an_unknown_compression_is_refused(tmp_path: Path) -> None:
    file, path = io.BytesIO(), tmp_path / "v.npz"
    np.savez(file, ids=np.array(["a", "b"]), vectors=np.ones((2, 2), dtype=np.float32))
    data = bytearray(file.getvalue())
    directory = data.index(b"PK\x01\x02")
    data[directory + 10] = 99  # the method of the first entry
    path.write_bytes(data)
    with pytest.raises(BadInput, match="compression"), open_vectors(path):
        pass


def test_an_array_that_claims_more_numbers_than_it_has_is_refused(tmp_path: Path) -> None:
    header, path = io.BytesIO(), tmp_path / "v.npz"
    shape = {"descr": "<f4", "fortran_order": False, "shape": (2, 10**15)}
    np.lib.format.write_array_header_1_0(header, shape)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("vectors.npy", header.getvalue() + bytes(16))
        file = io.BytesIO()
        np.save(file, np.array(["a", "b"]))
        archive.writestr("ids.npy", file.getvalue())
    with pytest.raises(BadInput, match="expected arrays of ids and vectors"), open_vectors(path):
        pass


def test_a_small_archive_that_unpacks_to_much_needs_little_memory(tmp_path: Path) -> None:
    path, count, dimensions = tmp_path / "v.npz", 65_536, 512
    rows = np.ones((count, dimensions), dtype=np.float32)
    np.savez_compressed(path, ids=np.arange(count), vectors=rows)
    packed, unpacked = path.stat().st_size, rows.nbytes
    del rows
    tracemalloc.start()
    try:
        with open_vectors(path) as table:
            _now, peak = tracemalloc.get_traced_memory()
            assert table.count == count
            assert (table.read(count - 1, count) == 1).all()
    finally:
        tracemalloc.stop()
    assert packed * 100 < unpacked
    assert peak * 2 < unpacked


@pytest.mark.parametrize("names", [("ids", "vectors.npy"), ("ids.npy",), ()])
def test_an_archive_without_both_arrays_is_refused(names: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, b"")
    with pytest.raises(BadInput, match="expected the arrays ids and vectors, found"), open_vectors(path):
        pass


def test_an_encrypted_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    np.savez(path, ids=np.array(["a", "b"]), vectors=np.ones((2, 2), dtype=np.float32))
    data = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + flags] |= 1
    path.write_bytes(data)
    with pytest.raises(BadInput, match="encrypted"), open_vectors(path):
        pass


def test_an_archive_larger_than_the_free_disk_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "v.npz"
    rows = np.ones((4_096, 512), dtype=np.float32)
    np.savez_compressed(path, ids=np.arange(len(rows)), vectors=rows)
    usage = shutil.disk_usage(tmp_path)._replace(free=1_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: usage)
    with (
        pytest.raises(
            BadInput, match=r"expected arrays of at most 1,000,000 bytes, which are free in .*, found 8,4"
        ),
        open_vectors(path),
    ):
        pass


def test_a_parquet_file_with_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "v.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"id": ["a"], "vector": [[1.0]], "further": [1]}), path)
    path.write_bytes(path.read_bytes().replace(b"further", b"f\xf6rther"))
    with pytest.raises(BadInput), open_vectors(path):
        pass
