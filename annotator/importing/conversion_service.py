"""Convert one evaluator's file into another's, without a database.

Works in two steps, so a caller can report every loss before writing. Refuses a conversion whose file would be
wrong and not only smaller. Overwrites only if asked to. `convert --queries FILE` adds missing texts and
fields: queries match by id or, in the format without ids (ranked), by exact text; the source's own values
stay. Refuses a text that matches two queries of the file, or none.

The format is taken from the target's name if that is unambiguous: `qrels.trec.txt`, `law-compact.json`,
`x.jsonl`; `x.json` could be three formats. A folder that is not a BEIR folder is never overwritten. Files are
written piece by piece under a hidden name in the same folder and renamed in one step, so a failure changes
nothing.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from annotator.domain.errors import ConflictError, ValidationError
from annotator.domain.ground_truth import QUERY_FIELDS, GroundTruth, Query
from annotator.domain.messages import count_of
from annotator.formats.content_warnings import (
    describe_repeated_texts,
    describe_wrong_counts,
    list_repeated_texts,
)
from annotator.formats.conversion_losses import ConversionLoss, find_losses, list_wrong
from annotator.formats.format import Format
from annotator.formats.input_tables import read_queries
from annotator.formats.registry import (
    FORMATS,
    detect_format,
    find_format,
    list_certain,
    list_formats,
    read_truth,
    write_pieces,
)
from annotator.formats.syntax.partial_files import KEPT, hold_partial, name_partial
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tables import kind_of_name
from annotator.formats.syntax.text import describe

FOLDER_FORMAT = "beir"
_BEIR_NAMES = frozenset({"queries.jsonl", "corpus.jsonl", "qrels"})


def choose_format(target: str, name: str | None) -> Format:
    """Return the named format, else the one that the target's name implies. ValidationError asks for `--to`."""
    if name is not None:
        return find_format(name)
    if target.endswith(("/", os.sep)) or Path(target).is_dir():
        return find_format(FOLDER_FORMAT)
    file = Path(target).name
    named = [file_format for file_format in FORMATS if file_format.name == file.split(".")[0]]
    if named:
        return named[0]
    likely = [
        file_format
        for file_format in FORMATS
        if file.lower().endswith(file_format.suffixes) and not is_folder(file_format)
    ]
    if len(likely) == 1:
        return likely[0]
    names = ", ".join(file_format.name for file_format in likely or FORMATS)
    raise ValidationError(
        f"{target}: the name does not say which format to write; say --to, one of: {names}\n"
        f"{list_formats(likely or FORMATS)}"
    )


def is_folder(file_format: Format) -> bool:
    """Check whether the format is a folder of files."""
    return any(writer.path for writer in file_format.files)


def check_target(target: Path, file_format: Format, *, overwrite: bool) -> None:
    """Raise ConflictError if the target must not be overwritten, ValidationError if it cannot exist."""
    if not target.absolute().parent.is_dir():
        raise ValidationError(f"{target}: expected its folder to be there, found none: {target.parent}")
    if not target.exists() and not target.is_symlink():
        return
    if not overwrite:
        raise ConflictError(f"{target} already exists; use --overwrite or choose another name")
    if is_folder(file_format):
        _check_folder(target, file_format)
    elif not target.is_file():
        raise ValidationError(
            f"{target}: expected a file to write {file_format.name} over, found a folder or something else"
        )


def _check_folder(target: Path, file_format: Format) -> None:
    if target.is_symlink() or not target.is_dir():
        raise ValidationError(
            f"{target}: expected a folder to write {file_format.name} over, found something else"
        )
    others = sorted({path.name for path in target.iterdir()} - _BEIR_NAMES)
    if others:
        raise ValidationError(
            f"{target}: expected a folder with nothing but {file_format.name} in it, found {others[0]} too; "
            "nothing is overwritten"
        )


ProgressCallback = Callable[[str], None]
_BUFFER = 1_000_000
_REPORT_EVERY = 20_000_000


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A written file with its size and SHA-256."""

    path: str
    bytes: int
    sha256: str


def write_target(
    target: Path, pieces: Iterable[tuple[str, str]], *, report_progress: ProgressCallback
) -> tuple[WrittenFile, ...]:
    """Write `(path, text)` pieces: path "" is the target itself, other paths are files in the target folder.

    ValidationError if the target cannot be written (no space, no permission); then nothing was written.
    """
    target = target.absolute()
    try:
        with hold_partial(name_partial(target), is_folder=True) as partial:
            written = _write_pieces(partial, pieces, report_progress)
            _move_to_target(partial, target, is_file=written[0].path == "")
    except OSError as error:
        raise ValidationError(f"cannot write {target}: {error.strerror or error}") from None
    return written


def _write_pieces(
    root: Path, pieces: Iterable[tuple[str, str]], report_progress: ProgressCallback
) -> tuple[WrittenFile, ...]:
    """Return the files written below root. The file with path "" is named `file`."""
    written: list[WrittenFile] = []
    unreported = 0
    for path, of_file in groupby(pieces, key=itemgetter(0)):
        target = root / "content" / path if path else root / "file"
        target.parent.mkdir(parents=True, exist_ok=True)
        digest, size = hashlib.sha256(), 0
        with target.open("wb", buffering=_BUFFER) as file:
            for _, piece in of_file:
                data = piece.encode("utf-8")
                file.write(data)
                digest.update(data)
                size += len(data)
                unreported += len(data)
                if unreported >= _REPORT_EVERY:
                    report_progress(f"written {size / 1e6:,.0f} MB")
                    unreported = 0
        written.append(WrittenFile(path, size, digest.hexdigest()))
    return tuple(written)


def _move_to_target(partial: Path, target: Path, *, is_file: bool) -> None:
    if is_file and target.exists() and not target.is_file():  # a device or a pipe, such as /dev/stdout
        with (partial / "file").open("rb") as written, target.open("wb") as stream:
            shutil.copyfileobj(written, stream)
        return
    if is_file:
        (partial / "file").replace(target)
        return
    with _aside(target, partial / KEPT):
        (partial / "content").rename(target)


@contextmanager
def _aside(target: Path, backup: Path) -> Iterator[None]:
    """Move an existing folder out of the way, and back if the block fails."""
    if not target.exists():
        yield
        return
    target.rename(backup)
    try:
        yield
    except OSError:
        backup.rename(target)
        raise
    shutil.rmtree(backup, ignore_errors=True)


_NAMED = 5


def read_query_file(source: InputSource) -> tuple[Query, ...]:
    """Return the queries of a ground-truth file or folder, or of a table `query_id,text`."""
    if source.is_folder or len(list_certain(source)) == 1:
        return read_truth(source)[1].queries
    if kind_of_name(source.path) is None:
        try:
            return read_truth(source)[1].queries
        except ValidationError as error:
            raise ValidationError(f"--queries: {error}") from None
    return tuple(line.query for line in read_queries(source.read_bytes(), source.path))


def supply_texts(
    truth: GroundTruth, queries: Sequence[Query], *, by_text: bool
) -> tuple[GroundTruth, tuple[str, ...]]:
    """Return the truth with texts and fields added from `queries`, and notes on mismatches."""
    if by_text:
        truth = _give_ids(truth, queries)
    supplied = {query.query_id: query for query in queries}
    filled = tuple(_fill(query, supplied.get(query.query_id)) for query in truth.queries)
    return replace(truth, queries=filled), tuple(_list_notes(truth.queries, supplied))


def _fill(query: Query, other: Query | None) -> Query:
    if other is None:
        return query
    fields: dict[str, Any] = {
        name: getattr(other, name) for name in QUERY_FIELDS if getattr(query, name) is None
    }
    return replace(
        query, text=query.text or other.text, metadata={**other.metadata, **query.metadata}, **fields
    )


def _list_notes(queries: Sequence[Query], supplied: dict[str, Query]) -> Iterable[str]:
    unknown = [query.query_id for query in queries if query.query_id not in supplied]
    if unknown:
        yield f"--queries does not know {_list_ids(unknown)}"
    others = set(supplied) - {query.query_id for query in queries}
    if others:
        yield f"--queries holds {count_of(len(others), 'query')} that have no qrel here; they are left out"
    differing = [
        query.query_id
        for query in queries
        if query.query_id in supplied and query.text and query.text != supplied[query.query_id].text
    ]
    if differing:
        yield f"--queries has another text for {_list_ids(differing)}; the file's own is kept"


def _give_ids(truth: GroundTruth, queries: Sequence[Query]) -> GroundTruth:
    """Return the truth with the ids that the queries file has for the same texts."""
    ids: dict[str, list[str]] = {}
    for query in queries:
        ids.setdefault(query.text, []).append(query.query_id)
    wrong = [query.text for query in truth.queries if len(ids.get(query.text, ())) != 1]
    if wrong:
        named = ", ".join(describe(text) for text in wrong[:_NAMED])
        raise ValidationError(
            f"--queries: expected each query's text once, found {len(wrong):,} missing or more than once: {named}"
        )
    given = {query.query_id: ids[query.text][0] for query in truth.queries}
    if len(set(given.values())) != len(given):
        raise ValidationError(
            "--queries: expected each query's text once in the file to convert, found one again"
        )
    return replace(
        truth,
        queries=tuple(replace(query, query_id=given[query.query_id]) for query in truth.queries),
        qrels=tuple(qrel._replace(query_id=given[qrel.query_id]) for qrel in truth.qrels),
    )


def _list_ids(ids: list[str]) -> str:
    more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
    return (
        f"{count_of(len(ids), 'query')}: {', '.join(describe(query_id) for query_id in ids[:_NAMED])}{more}"
    )


@dataclass(frozen=True, slots=True)
class Conversion:
    """A conversion that was read but not yet written. `losses`: what the target cannot hold, wrong losses first.

    `mapped_grades`: {value of `--map-grades`: occurrences in the source}. `notes`: mapped values, wrong
    counts of the source, and mismatches with `--queries`. `can_be_written`: whether no loss is wrong.
    """

    source: str
    source_format: Format
    target: Path
    target_format: Format
    truth: GroundTruth
    losses: tuple[ConversionLoss, ...]
    notes: tuple[str, ...]
    list_grade_0: bool
    mapped_grades: Mapping[str, int] | None = None

    @property
    def can_be_written(self) -> bool:
        return not list_wrong(self.losses)


def prepare_conversion(
    source: InputSource,
    target: str,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    queries: InputSource | None = None,
    grades_by: str | None = None,
    list_grade_0: bool = False,
    overwrite: bool = False,
    report_progress: ProgressCallback = lambda _: None,
) -> Conversion:
    """Read the source, and find the content that the target's format cannot hold. Writes nothing.

    `queries`: a file with the queries' texts and fields, for a source without them. `report_progress`: called
    with each step. BadInput with every bad place; ValidationError if a format must be named; ConflictError if
    the target exists and must not be overwritten.
    """
    path = Path(target)
    written_format = choose_format(target, target_format)
    check_target(path, written_format, overwrite=overwrite)
    read_format = detect_format(source) if source_format is None else find_format(source_format)
    report_progress(f"reading {source.path} as {read_format.name}")
    _, truth = read_truth(source, format_name=read_format.name, grades_by=grades_by)
    if not truth.qrels and "queries_without_qrels" not in written_format.features:
        raise ValidationError(
            f"{source.path} holds no grades, and {written_format.name} holds nothing else; nothing was written"
        )
    mapped = source.scale.figures
    repeated = describe_repeated_texts(source.path, list_repeated_texts(read_format, truth))
    notes = (*source.scale.note_mapped(), *describe_wrong_counts(truth.wrong_counts), *repeated)
    if queries is not None:
        by_text = "query_ids" not in read_format.features
        truth, unfit = supply_texts(truth, read_query_file(queries), by_text=by_text)
        notes = (*notes, *unfit)
    report_progress(f"looking for what {written_format.name} cannot hold")
    losses = find_losses(truth, written_format, list_grade_0=list_grade_0)
    return Conversion(
        source.path, read_format, path, written_format, truth, losses, notes, list_grade_0, mapped or None
    )


def write_conversion(
    conversion: Conversion, *, report_progress: ProgressCallback = lambda _: None
) -> tuple[WrittenFile, ...]:
    """Write the prepared conversion: everything or nothing. ValidationError lists every wrong loss."""
    wrong = list_wrong(conversion.losses)
    if wrong:
        lines = "\n".join(f"- {loss.what}" for loss in wrong)
        raise ValidationError(
            f"{conversion.target} would be wrong as {conversion.target_format.name}; nothing was written:\n{lines}"
        )
    report_progress(f"writing {conversion.target} as {conversion.target_format.name}")
    pieces = write_pieces(conversion.target_format, conversion.truth, list_grade_0=conversion.list_grade_0)
    return write_target(conversion.target, pieces, report_progress=report_progress)
