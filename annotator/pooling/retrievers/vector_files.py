"""Read a team's own embeddings from .npy, .npz, Parquet or JSONL, or make them with a model in a local folder.

A .npy file is mapped into memory and read block by block. Other files are first unpacked or copied into
temporary files and read in the same way: the disk limits their size, not the memory. Only Parquet has no
limit: 8,192 of its rows are unpacked in memory, however long they are. Errors name file and line.

A model needs model2vec or sentence-transformers; its folder shows which (`config.json` or `modules.json`). Nothing
is downloaded: the libraries run offline.
"""

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from tokenize import TokenError
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.domain.errors import Problems, StateError, ValidationError, refuse
from annotator.formats.syntax.partial_files import hold_temporary_folder
from annotator.formats.syntax.text import describe, read_text

SUFFIXES = (".npy", ".npz", ".parquet", ".jsonl")
ID_NAMES = ("id", "_id", "doc_id", "query_id")
VECTOR_NAMES = ("vector", "embedding")
ARRAYS = ("ids.npy", "vectors.npy")  # of a .npz file
ROWS = 8_192  # copied at once
Vectors = NDArray[Any]
_BROKEN_ARRAY = (ValueError, EOFError, OSError, SyntaxError, TypeError, TokenError, RuntimeError)
"""The errors of a damaged file. TypeError and TokenError: in its header, which is Python; RuntimeError: unknown packing."""


@dataclass(frozen=True, slots=True)
class VectorTable:
    """Vectors with an id for each row. `id_path`: the file of the ids. `lines`: of each row; None: row + 1."""

    path: str
    ids: tuple[str, ...]
    dimensions: int
    open_rows: Callable[[], Vectors]
    id_path: str
    lines: Sequence[int] | None = None

    @property
    def count(self) -> int:
        return len(self.ids)

    def read(self, start: int, stop: int) -> Vectors:
        """Return a copy of these rows. The mapped pages are released at once."""
        return np.array(self.open_rows()[start:stop])

    def line_of(self, row: int) -> int:
        """Return the line of a row, from 1."""
        return self.lines[row] if self.lines is not None else row + 1


def has_direction(rows: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Return for each row whether it has a number other than 0. Without one it has no cosine."""
    return np.asarray(rows.any(axis=1))


class VectorSpool:
    """A temporary file that collects vectors row by row and becomes a table. A context manager that deletes it."""

    def __init__(self) -> None:
        # Closed by __exit__.
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._dimensions = 0
        self._dtype: np.dtype[Any] | None = None
        self.ids: list[str] = []

    def __enter__(self) -> "VectorSpool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, ids: Sequence[str], rows: Vectors) -> None:
        """Append these rows. All rows must have the same length."""
        self._dimensions = rows.shape[1]
        self._dtype = self._dtype or rows.dtype
        self._file.write(np.ascontiguousarray(rows, dtype=self._dtype).data)
        self.ids += ids

    def make_table(self, path: str, lines: Sequence[int] | None = None) -> VectorTable:
        """Return the rows written so far."""
        self._file.flush()
        shape, dtype = (len(self.ids), self._dimensions), self._dtype or np.dtype(np.float32)
        open_rows = partial(np.memmap, self._file, dtype=dtype, mode="r", shape=shape)
        return VectorTable(path, tuple(self.ids), self._dimensions, open_rows, path, lines)


@contextmanager
def open_vectors(path: Path) -> Iterator[VectorTable]:
    """Yield the table of a file. Raises ValidationError without a file, BadInput for wrong content."""
    if not path.is_file():
        raise ValidationError(f"{path}: expected a file of vectors, found none")
    suffix = path.suffix.lower()
    if suffix == ".npy":
        yield _open_npy(path)
        return
    if suffix not in SUFFIXES:
        raise ValidationError(f"{path}: expected a file named {', '.join(SUFFIXES)}, found {path.name!r}")
    with VectorSpool() as spool, hold_temporary_folder("vectors") as folder:
        if suffix == ".npz":
            table = _open_npz(path, folder)
        elif suffix == ".parquet":
            table = _copy_parquet(path, spool)
        else:
            table = _copy_jsonl(path, spool)
        if not table.count:
            raise refuse(str(path), None, "at least one vector", "none")
        yield table


def _open_npy(path: Path) -> VectorTable:
    expected = "an array of numbers, one row for each id"
    try:
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
    except _BROKEN_ARRAY as error:
        raise refuse(str(path), None, expected, str(error)) from None
    _check_array(rows, str(path))
    id_path = next((name for name in _list_id_paths(path) if name.is_file()), None)
    if id_path is None:
        names = " or ".join(str(name) for name in _list_id_paths(path))
        raise refuse(str(path), None, f"its ids, one per line, in {names}", "no such file")
    lines = read_text(id_path.read_bytes(), str(id_path)).split("\n")
    ids = tuple(line.removesuffix("\r") for line in lines)
    ids = ids[:-1] if ids[-1] == "" else ids
    if len(ids) != len(rows):
        expected = f"{len(rows):,} ids, as many as {path} has rows"
        raise refuse(str(id_path), None, expected, f"{len(ids):,}")

    open_rows = partial(np.load, path, mmap_mode="r", allow_pickle=False)
    return VectorTable(str(path), ids, int(rows.shape[1]), open_rows, str(id_path))


def _list_id_paths(path: Path) -> tuple[Path, Path]:
    return path.with_suffix(".ids.txt"), path.with_suffix(".ids")


def _check_array(rows: Vectors, path: str) -> None:
    if rows.ndim != 2 or rows.dtype.kind not in "fiu" or 0 in rows.shape:
        found = f"{rows.dtype} of shape {rows.shape}"
        raise refuse(path, None, "an array of numbers with two dimensions (ids × numbers)", found)


def _open_npz(path: Path, folder: Path) -> VectorTable:
    """Unpack the two arrays into this folder and map them into memory. A small file can unpack to many gigabytes."""
    import shutil
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {item.filename: item.file_size for item in archive.infolist()}
            if not sizes.keys() >= set(ARRAYS):
                found = ", ".join(name.removesuffix(".npy") for name in sizes) or "none"
                raise refuse(str(path), None, "the arrays ids and vectors", found)
            size, free = sum(sizes[name] for name in ARRAYS), shutil.disk_usage(folder).free
            if size > free:  # an archive never unpacks to more than its stated sizes
                expected = f"arrays of at most {free:,} bytes, which are free in {folder.parent}"
                raise refuse(str(path), None, expected, f"{size:,} bytes")
            ids_path, rows_path = (archive.extract(name, folder) for name in ARRAYS)
        ids = np.load(ids_path, mmap_mode="r", allow_pickle=False)
        rows = np.load(rows_path, mmap_mode="r", allow_pickle=False)
    except (*_BROKEN_ARRAY, zipfile.BadZipFile, zlib.error) as error:
        raise refuse(str(path), None, "arrays of ids and vectors", str(error)) from None
    _check_array(rows, str(path))
    if ids.ndim != 1 or ids.dtype.kind not in "Uiu" or len(ids) != len(rows):
        found = f"{ids.dtype} of shape {ids.shape}"
        raise refuse(str(path), None, f"{len(rows):,} ids as texts or numbers", found)

    open_rows = partial(np.load, rows_path, mmap_mode="r", allow_pickle=False)
    names = tuple(str(name) for name in ids.tolist())
    return VectorTable(str(path), names, int(rows.shape[1]), open_rows, str(path))


def _copy_parquet(path: Path, spool: VectorSpool) -> VectorTable:
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            names = _choose_columns(file.schema_arrow.names, str(path))
            dimensions: int | None = None
            for batch in file.iter_batches(ROWS, columns=list(names)):
                dimensions = _copy_batch(batch, names, spool, str(path), dimensions)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise refuse(str(path), None, "a Parquet file", str(error)) from None
    return spool.make_table(str(path))


def _choose_columns(names: Sequence[str], path: str) -> tuple[str, str]:
    columns = [
        next((name for name in usual_names if name in names), None)
        for usual_names in (ID_NAMES, VECTOR_NAMES)
    ]
    if columns[0] is None or columns[1] is None:
        expected = f"a column {' or '.join(ID_NAMES)} and a column {' or '.join(VECTOR_NAMES)}"
        raise refuse(path, None, expected, ", ".join(names) or "no column")
    return columns[0], columns[1]


def _copy_batch(
    batch: Any, names: tuple[str, str], spool: VectorSpool, path: str, dimensions: int | None
) -> int | None:
    """Copy some rows of a Parquet file to the spool; return the number of dimensions."""
    import pyarrow.compute
    import pyarrow.types

    problems, first = Problems(path), len(spool.ids) + 1
    ids, vectors = batch.column(names[0]).to_pylist(), batch.column(names[1])
    kind = vectors.type
    is_list = pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind)
    is_list = is_list or pyarrow.types.is_fixed_size_list(kind)
    if not is_list or not (
        pyarrow.types.is_floating(kind.value_type) or pyarrow.types.is_integer(kind.value_type)
    ):
        raise refuse(path, None, f"lists of numbers in {names[1]}", str(kind))
    lengths = pyarrow.compute.list_value_length(vectors).to_pylist()
    for row, (name, length) in enumerate(zip(ids, lengths, strict=True), start=first):
        if not isinstance(name, str | int) or isinstance(name, bool):
            problems.add(row, "an id (a text or a whole number)", describe(name))
        dimensions = dimensions or length
        if not length or length != dimensions:
            problems.add(row, f"a vector of {dimensions or 'some'} numbers", f"{length or 'none'}")
    problems.raise_if_any()
    numbers = vectors.flatten()
    rows = numbers.to_numpy(zero_copy_only=False).reshape(len(ids), -1)  # null becomes NaN
    if len(ids):
        spool.add([str(name) for name in ids], rows)
    return dimensions


def _copy_jsonl(path: Path, spool: VectorSpool) -> VectorTable:
    problems, lines = Problems(str(path)), []
    ids: list[str] = []
    rows: list[Vectors] = []
    dimensions: int | None = None
    with path.open("rb") as file:
        for number, data in enumerate(file, start=1):
            if not data.strip():
                continue
            entry = _read_line(data, number, problems, dimensions)
            if entry is None:
                continue
            name, row = entry
            dimensions = dimensions or len(row)
            ids.append(name)
            rows.append(row)
            lines.append(number)
            if len(rows) == ROWS:
                spool.add(ids, np.stack(rows))
                ids, rows = [], []
    problems.raise_if_any()
    if rows:
        spool.add(ids, np.stack(rows))
    return spool.make_table(str(path), lines)


def _read_line(
    data: bytes, number: int, problems: Problems, dimensions: int | None
) -> tuple[str, Vectors] | None:
    """Return the id and the vector of a line; None if it has a problem, which is noted."""
    try:
        entry = json.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        problems.add(
            number, "a JSON object with an id and a vector", describe(data[:60].decode("utf-8", "replace"))
        )
        return None
    if not isinstance(entry, dict):
        problems.add(number, "a JSON object with an id and a vector", describe(entry))
        return None
    name = next((entry[key] for key in ID_NAMES if key in entry), None)
    numbers = next((entry[key] for key in VECTOR_NAMES if key in entry), None)
    if not isinstance(name, str | int) or isinstance(name, bool):
        problems.add(number, f"an id in {' or '.join(ID_NAMES)}", describe(name))
        return None
    if not isinstance(numbers, list) or not numbers or not _are_numbers(numbers):
        problems.add(number, f"a list of numbers in {' or '.join(VECTOR_NAMES)}", describe(numbers))
        return None
    if dimensions is not None and len(numbers) != dimensions:
        problems.add(number, f"a vector of {dimensions:,} numbers, as before", f"{len(numbers):,}")
        return None
    with np.errstate(over="ignore"):  # numbers too large for single precision become infinite and are refused
        return str(name), np.array(numbers, dtype=np.float64).astype(np.float32)


def _are_numbers(values: Sequence[object]) -> bool:
    return all(type(value) is float or (type(value) is int and abs(value) < 2**53) for value in values)


BATCH = 1_024  # texts at once
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
Encode = Callable[[list[str]], Any]


def load_model(folder: Path) -> Encode:
    """Return the function that embeds texts. ValidationError without such a model, StateError without its library."""
    if not folder.is_dir():
        raise ValidationError(
            f"--embed: expected the folder of a model, found none at {folder} (nothing is downloaded)"
        )
    is_static = _read_model_type(folder) == "model2vec"
    if not is_static and not (folder / "modules.json").is_file():
        raise ValidationError(
            f"--embed: expected a model of model2vec or sentence-transformers, found neither in {folder}"
        )
    library = "model2vec" if is_static else "sentence_transformers"
    with _stay_offline():
        try:
            module = import_module(library)
        except ImportError:
            package = "annotator[embed]" if is_static else "sentence-transformers"
            raise StateError(
                f"--embed: the model in {folder} needs {library}, which is not installed: pip install '{package}'"
            ) from None
        try:
            if is_static:
                return _take_encode(module.StaticModel.from_pretrained(folder))
            return _take_encode(module.SentenceTransformer(str(folder), local_files_only=True))
        except (OSError, ValueError, KeyError, RuntimeError, TypeError) as error:
            raise ValidationError(f"--embed: the model in {folder} cannot be loaded: {error}") from None


def embed_texts(
    encode: Encode, texts: Iterable[tuple[str, str]], spool: VectorSpool, *, path: str
) -> VectorTable:
    """Return the vectors of the texts (id, text), written to the spool; none for a text of unknown words only."""
    remaining = iter(texts)
    while batch := list(islice(remaining, BATCH)):
        rows = np.asarray(encode([text for _, text in batch]), dtype=np.float32)
        is_usable = has_direction(rows)
        if is_usable.any():
            spool.add(
                [name for (name, _), kept in zip(batch, is_usable, strict=True) if kept], rows[is_usable]
            )
    return spool.make_table(path)


def _read_model_type(folder: Path) -> object:
    try:
        config = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return config.get("model_type") if isinstance(config, dict) else None


def _take_encode(model: Any) -> Encode:
    def encode(texts: list[str]) -> Any:
        with _stay_offline():
            return model.encode(texts)

    return encode


@contextmanager
def _stay_offline() -> Iterator[None]:
    earlier = {name: os.environ.get(name) for name in OFFLINE}
    os.environ.update(OFFLINE)
    try:
        yield
    finally:
        for name, value in earlier.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
