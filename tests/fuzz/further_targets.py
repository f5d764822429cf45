"""Targets besides the formats and tables: uploads, archives, releases, specs, office files, options, and what a browser sends."""

import asyncio
import hashlib
import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from starlette.requests import Request, cookie_parser

from annotator import __version__
from annotator.adjudication.bulk.bulk_files import read_seen
from annotator.adjudication.history.history import read_day_or_time
from annotator.adjudication.queue.queue_records import read_reasons
from annotator.adjudication.records import read_revision
from annotator.dataset.export_service import CHECK_SECRET, FORMAT, FORMAT_VERSION, list_tables
from annotator.dataset.restore_service import restore_dataset
from annotator.dataset.service import read_operator_hosts
from annotator.dataset.settings import SETTINGS, read_setting
from annotator.domain.errors import AnnotatorError, StateError
from annotator.domain.ground_truth import Query
from annotator.domain.people import OPERATOR
from annotator.evaluation.differences.sweep import parse_system_name
from annotator.evaluation.profiles import find_profile
from annotator.evaluation.records import Truth
from annotator.evaluation.run_files import RunReading, read_run
from annotator.evaluation.targets import read_earlier_evaluation, read_targets
from annotator.evaluation.truth_files import read_truth_file
from annotator.formats.input_tables import read_relation_lines
from annotator.formats.registry import FORMATS
from annotator.formats.syntax.grade_scale import parse_mapping
from annotator.formats.syntax.source import InputSource
from annotator.guideline.validation import read_examples
from annotator.importing.conversion_service import read_query_file
from annotator.importing.judgments.qrel_plan import read_qrel_source
from annotator.importing.search_endpoint.answer import read_page as read_answer_page
from annotator.importing.search_endpoint.endpoint_records import AnswerPaths
from annotator.importing.search_endpoint.fetch import SUFFIX, FetchIdentity, open_saved_run
from annotator.importing.search_endpoint.spec import read_spec_file
from annotator.importing.sources import FileLayout, read_document_source, read_query_source
from annotator.importing.texts.office_files import read_office_page
from annotator.importing.uploads.preview import preview_file
from annotator.importing.uploads.recognition import ImportChoices, recognize_upload
from annotator.importing.uploads.staging import StagingLimits, stage_files
from annotator.installation.backup_file import BackupWriter, open_backup
from annotator.installation.records import BackupManifest
from annotator.installation.service import read_manifest
from annotator.labeling.submission import read_events
from annotator.people.single_sign_on.records import read_group_roles
from annotator.pooling.adaptive.measures import read_measure
from annotator.pooling.filters.filters import read_filters
from annotator.pooling.proposals.proposals_service import read_first_grade
from annotator.pooling.retrievers.records import read_weights
from annotator.pooling.retrievers.vector_files import open_vectors
from annotator.pooling.rounds.strategies import read_strata, read_strategy
from annotator.pooling.suggestions.suggestion_rules import read_rules
from annotator.releases.verify.verify import verify_folder
from annotator.releases.writing.folder import read_sums
from annotator.storage.tables.central import DatasetRow
from annotator.web.adjudication.downloads import read_filter
from annotator.web.adjudication.queue_url import read_address
from annotator.web.guideline.feedback import read_chosen
from annotator.web.labeling.api import MAX_BODY
from annotator.web.rendering.documents import write_safe
from annotator.web.rendering.rst import read_words
from annotator.web.session import choose_local_path, read_cookie, read_json_object
from tests.fuzz.target import PROJECT, Read, Target

RELEASE = PROJECT / "tests" / "golden" / "releases"
PACKAGE = PROJECT / "annotator"
MOMENT = datetime(2026, 1, 2, tzinfo=UTC)
QUERIES = (Query("Q1", "検索"), Query("Q2", "둘"))
IDENTITY = FetchIdentity("d", "s", "h:80", 10, "0" * 64)


def list_further_targets() -> list[Target]:
    """Return the targets, each with at least one good file."""
    return [*_list_files(), *_list_archives(), *_list_release_files(), *_list_rendered(), *_list_requests()]


def _with_file(read: Any) -> Read:
    """Make a target's `read` of a reader of paths."""

    def read_path(data: bytes, path: Path) -> object:
        path.write_bytes(data)
        return read(path)

    return read_path


def _list_files() -> Iterator[Target]:
    specs = tuple(
        path.read_bytes()
        for path in sorted((PACKAGE / "importing" / "search_endpoint" / "templates").glob("*.yaml"))
    )
    rules = (PACKAGE / "pooling" / "suggestions" / "rules" / "law.yaml").read_bytes()
    relations = b"from,to,relation\na,b,cites\nb,c,\n"
    run = b"Q1 Q0 d1 1 2.5 bm25\nQ1 Q0 d2 2 2.5 bm25\nQ2 Q0 d1 1 -1e3 bm25\n"
    json_run = b'{"query_id": "Q1", "latency_ms": 3, "results": [{"doc_id": "d", "score": 1.0}]}\n'
    truth = Truth("t", {"Q1": {"d1": 2}, "Q2": {}}, texts={"Q1": "a", "Q2": "a"})
    earlier = {
        "truth": {"content_sha256": None},
        "profile": "trec",
        "systems": [{"system": "a", "measures": {"P@5": {"value": 0.5}}, "by_query": {"Q1": {"P@5": None}}}],
    }
    state = {
        "dataset": "d",
        "system": "s",
        "host": "h:80",
        "depth": 10,
        "spec_sha256": "0" * 64,
        "imported_sha256": None,
        "texts": {query.query_id: hashlib.sha256(query.text.encode()).hexdigest()[:16] for query in QUERIES},
    }
    yield Target("spec", ".yaml", _with_file(read_spec_file), specs)
    yield Target(
        "suggestion rules",
        ".yaml",
        _with_file(lambda path: read_rules(str(path), ("sibling", "decree", "rule", "reference"))),
        (rules,),
    )
    yield Target("relations", ".csv", _with_file(read_relation_lines), (relations,))
    yield Target(
        "targets",
        ".yaml",
        _with_file(partial(read_targets, profile=find_profile("trec"))),
        (b"P@5: 0.5\nlatency P95: 200\ncoverage: 1\n",),
    )
    yield Target(
        "earlier evaluation", ".json", _with_file(read_earlier_evaluation), (json.dumps(earlier).encode(),)
    )
    for order in ("score", "rank"):
        reading = RunReading(order=order)  # type: ignore[arg-type]
        yield Target(
            f"run by {order}",
            ".txt",
            _with_file(partial(read_run, truth=truth, reading=reading)),
            (run, json_run),
        )
    yield Target(
        "group roles",
        ".yaml",
        _with_file(read_group_roles),
        (b'leads:\n  "*": lead\nexperts: {law: annotator}\n',),
    )
    yield Target(
        "fetched run",
        ".jsonl",
        _with_file(_read_fetched),
        (b'{"query_id": "Q1", "results": [{"doc_id": "a", "rank": 1}]}\n',),
    )
    yield Target("fetched state", ".json", _with_file(_read_fetch_state), (json.dumps(state).encode(),))
    queries = b"query_id,text\nQ1,a\n", (PACKAGE / "formats" / "samples" / "nablarch.nasty.yaml").read_bytes()
    yield Target(
        "query file", ".csv", lambda data, path: read_query_file(InputSource(str(path), data)), queries
    )
    yield Target(
        "query source",
        ".csv",
        _with_file(lambda path: read_query_source(InputSource(str(path)), format_name=None)),
        queries,
    )
    yield Target(
        "document source",
        ".jsonl",
        _with_file(
            lambda path: read_document_source(InputSource(str(path)), format_name=None, layout=FileLayout())
        ),
        (b'{"doc_id": "a", "text": "b"}\n',),
    )
    samples = tuple(
        (PACKAGE / "formats" / "samples" / f"{name}.nasty.{suffix}").read_bytes()
        for name, suffix in (("law", "json"), ("csv", "csv"))
    )
    yield Target(
        "qrel source",
        ".json",
        _with_file(partial(read_qrel_source, format_name=None, encoding=None, grades_by=None)),
        samples,
    )
    yield Target("truth", ".json", _with_file(read_truth_file), samples)
    yield from _list_vectors()


def _read_fetched(path: Path) -> object:
    state = path.with_name(f"{path.name}{SUFFIX}")
    texts = {query.query_id: hashlib.sha256(query.text.encode()).hexdigest()[:16] for query in QUERIES}
    named = {name: getattr(IDENTITY, name) for name in ("dataset", "system", "host", "depth", "spec_sha256")}
    state.write_text(json.dumps({**named, "imported_sha256": None, "texts": texts}), encoding="utf-8")
    return open_saved_run(path, IDENTITY, QUERIES)


def _read_fetch_state(path: Path) -> object:
    run = path.with_suffix(".saved")
    path.rename(run.with_name(f"{run.name}{SUFFIX}"))
    return open_saved_run(run, IDENTITY, QUERIES)


def _list_vectors() -> Iterator[Target]:
    import pyarrow
    import pyarrow.parquet

    rows = np.array([[1.0, 0.5], [0.0, 2.0]], dtype=np.float32)
    files = {suffix: io.BytesIO() for suffix in (".npy", ".npz", ".parquet")}
    np.save(files[".npy"], rows)
    np.savez(files[".npz"], ids=np.array(["a", "b"]), vectors=rows)
    pyarrow.parquet.write_table(pyarrow.table({"id": ["a", "b"], "vector": rows.tolist()}), files[".parquet"])
    content = {suffix: file.getvalue() for suffix, file in files.items()}
    content[".jsonl"] = b'{"id": "a", "vector": [1, 0.5]}\n{"id": "b", "vector": [0, 2]}\n'
    for suffix, data in content.items():
        yield Target(f"vectors{suffix}", suffix, _with_file(_read_vectors), (data,))


def _read_vectors(path: Path) -> object:
    path.with_suffix(".ids.txt").write_text("a\nb\n", encoding="utf-8")
    with open_vectors(path) as table:
        return table.read(0, min(table.count, 10))


# Archives ------------------------------------------------------------------------------------------------


def _make_zip(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return file.getvalue()


def _list_archives() -> Iterator[Target]:
    members = {
        "docs/a.md": b"# A\n\ntext\n",
        "docs/나.html": "<p>둘".encode(),
        "queries.csv": b"query_id,text\nQ1,a\n",
        "run.txt": b"Q1 Q0 d1 1 2.5 bm25\n",
        "beir/qrels/test.tsv": b"query-id\tcorpus-id\tscore\nQ1\td1\t1\n",
        "beir/queries.jsonl": b'{"_id": "Q1", "text": "a"}\n',
        "beir/corpus.jsonl": b'{"_id": "d1", "text": "a"}\n',
    }
    yield Target("upload.zip", ".zip", _read_upload, (_make_zip(members), _make_zip({"a.txt": b"a" * 9_000})))
    yield Target("upload", ".csv", _read_upload, tuple(members.values()))
    yield Target("backup", ".zip", _with_file(read_backup_file), (make_backup(),))
    yield Target("dataset export", ".zip", _with_file(read_export_file), (make_export(),))
    for suffix, data in _make_office_files().items():
        yield Target(f"office{suffix}", suffix, _read_office, (data,), every=3)


def _read_upload(data: bytes, path: Path) -> object:
    folder = Path(tempfile.mkdtemp(dir=path.parent))
    try:
        before = sorted(path.parent.parent.iterdir()), sorted(path.parent.iterdir())
        stage_files([(path.name, io.BytesIO(data))], folder, limits=StagingLimits(files=50, unpacked_mb=5))
        assert (sorted(path.parent.parent.iterdir()), sorted(path.parent.iterdir())) == before, (
            "written outside the folder"
        )
        found = recognize_upload(folder)
        for file in found:
            choices = ImportChoices(
                kind=file.kind, format=file.format, encoding=file.encoding, columns=file.names
            )
            preview_file(folder / file.path, choices)
        return found
    finally:
        shutil.rmtree(folder)


def make_backup() -> bytes:
    file = io.BytesIO()
    with BackupWriter(file, MOMENT) as writer:
        writer.add("database.sqlite", io.BytesIO(b"SQLite"), compress=True)
        writer.add("exports/d/1/manifest.json", io.BytesIO(b"{}"), compress=False)
        writer.close(
            BackupManifest(__version__, "1", "sqlite", MOMENT, {"pair": 3}, tuple(writer.members), 1, ())
        )
    return file.getvalue()


def read_backup_file(path: Path) -> object:
    with open_backup(path) as backup:
        backup.check_members([backup.find_database(), *backup.list_members("exports")], lambda *_: None)
    return read_manifest(path)


def make_export() -> bytes:
    members = {f"{table.name}.jsonl": b"" for table in list_tables()}
    dataset = DatasetRow.model_validate({"pk": 1, "name": "d", "title": "d", "created_at": MOMENT})
    exported = dataset.model_dump(mode="json", exclude={CHECK_SECRET})
    members["dataset.jsonl"] = json.dumps(exported).encode() + b"\n"
    listed = [
        {"file": name, "rows": data.count(b"\n"), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in members.items()
    ]
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "program": __version__,
        "schema": "1",
        "dataset": "d",
        "exported_at": MOMENT.isoformat(),
        "files": listed,
    }
    return _make_zip({**members, "manifest.json": json.dumps(manifest).encode()})


class _NoDatabase:
    """Takes the place of the database after the file was read and compared with its checksums."""

    def write(self) -> object:
        raise StateError("the file is good")


def read_export_file(path: Path) -> object:
    return restore_dataset(_NoDatabase(), OPERATOR, path, now=MOMENT)  # type: ignore[arg-type]


@cache
def _make_office_files() -> dict[str, bytes]:
    from docx import Document as WordDocument
    from openpyxl import Workbook
    from reportlab.pdfgen.canvas import Canvas

    files = {suffix: io.BytesIO() for suffix in (".docx", ".xlsx", ".pdf")}
    document = WordDocument()
    document.add_heading("제목", 1)
    document.add_paragraph("text")
    document.add_table(2, 2).cell(0, 0).text = "a"
    document.save(files[".docx"])
    workbook = Workbook()
    workbook.active.append(["a", 1, None])  # type: ignore[union-attr]
    workbook.save(files[".xlsx"])
    canvas = Canvas(files[".pdf"], invariant=1)
    canvas.drawString(72, 700, "text of a page")
    canvas.showPage()
    canvas.save()
    return {suffix: file.getvalue() for suffix, file in files.items()}


def _read_office(data: bytes, path: Path) -> object:
    return read_office_page(data, f"d{path.suffix}", str(path))


# Releases ------------------------------------------------------------------------------------------------


def _list_release_files() -> Iterator[Target]:
    for name in (
        "manifest.json",
        "SHA256SUMS",
        "judgments.csv",
        "qrels.trec.txt",
        "DATASHEET.md",
        "law.json",
    ):
        yield Target(
            f"release {name}",
            Path(name).suffix,
            partial(_read_release, name),
            ((RELEASE / name).read_bytes(),),
            every=10,
        )


def _read_release(name: str, data: bytes, path: Path) -> object:
    folder = path.parent / "release"
    shutil.copytree(RELEASE, folder)
    try:
        (folder / name).chmod(0o644)
        (folder / name).write_bytes(data)
        read_sums(folder)
        found = verify_folder(folder)
        assert found.whole == (data == (RELEASE / name).read_bytes()), (
            "a changed release passes, or one as published does not"
        )
        return read_truth_file(folder)
    finally:
        shutil.rmtree(folder)


# Documents as HTML ---------------------------------------------------------------------------------------


def _list_rendered() -> Iterator[Target]:
    pages = {
        "markdown": (
            b"# T\n\n[a](javascript:x) ![b](http://x/y)\n\n```python\nx = 1\n```\n\n| a |\n|---|\n| b |\n",
        ),
        "rst": (
            "제목\n====\n\n.. image:: http://x\n\n.. code:: python\n\n   x\n\n:ref:`a <b>` `c`_\n".encode(),
        ),
        "html": (
            b"<h1 onclick=x>a</h1><script>x</script><a href='java&#10;script:x'>b</a><style>c</style><svg><p>",
        ),
        "code": (b"def f():\n    return '<script>'\n",),
    }
    for kind, seeds in pages.items():
        yield Target(f"rendering {kind}", ".md", partial(_render, kind), seeds, every=2)


def _render(kind: str, data: bytes, path: Path) -> object:
    html, blocked = write_safe(data[:20_000].decode("utf-8", "replace"), kind, "a.py")
    lowered = html.lower()
    assert "<script" not in lowered, "a script in what is shown"
    assert "<iframe" not in lowered, "a frame in what is shown"
    return html, blocked


# What browsers, endpoints and people send -------------------------------------------------------------------


def _list_requests() -> Iterator[Target]:
    head = (
        b'GET /label?dataset=d HTTP/1.1\r\nHost: a.example:8501\r\nCookie: annotator_session_8501=abc; x="y"\r\n'
        b"X-Forwarded-Proto: https\r\n\r\n"
    )
    yield Target("request head", ".txt", _read_head, (head,))
    event = {
        "id": "6f2c0f0c-7f4e-4e1a-9d5e-0d3c2b1a0f9e",
        "pair": "p",
        "outcome": "graded",
        "grade": 2,
        "note": "둘",
        "pressed_at": "2026-01-02T03:04:05+09:00",
        "seconds": 1.5,
        "browser": "b",
        "browser_number": 3,
        "reason": None,
    }
    body = {
        "dataset": "d",
        "events": [event, {**event, "outcome": "unrateable", "grade": None, "reason": "other"}],
        "have": ["p"],
        "want": 2,
        "tab": "t",
    }
    yield Target("body", ".json", _read_body, (json.dumps(body, ensure_ascii=False).encode(),))
    answer = {
        "hits": {"total": {"value": 3}, "hits": [{"_id": "a", "_score": 1.5}, {"_id": 7, "_score": 1}]},
        "took": 4,
    }
    yield Target("endpoint answer", ".json", _read_answer, (json.dumps(answer).encode(),))
    options = (
        "4=3,-1=unrateable",
        "0.05",
        "P@5,nDCG@10",
        "1-5:1,6-20:0.5",
        "bm25=2,lsa=1",
        "2026-01-02",
        "Q:2,R:3",
        '{"a": 3}',
        "es.example.org:9200",
        "domain=law",
        "p1:3 p2:1",
        "/label?dataset=d",
        "a-k1=0.9",
    )
    yield Target("options", ".txt", _read_options, tuple(option.encode() for option in options))


def _read_head(data: bytes, path: Path) -> object:
    lines = data.partition(b"\r\n\r\n")[0].split(b"\r\n")
    cookies = cookie_parser(
        next((line[8:].decode("latin-1") for line in lines if line.lower().startswith(b"cookie: ")), "")
    )
    host = lines[-1][-80:].decode("latin-1")
    local = choose_local_path(data.decode("latin-1"))
    assert local.startswith("/"), "an address of another server"
    assert not local.startswith(("//", "/\\")), "an address of another server"
    return read_cookie(cookies, "annotator_session", host)


def _read_body(data: bytes, path: Path) -> object:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": data, "more_body": False}

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "headers": [(b"content-type", b"application/json")],
    }
    with ThreadPoolExecutor(1) as elsewhere:  # a browser's test may have left a loop running in this thread
        reading = read_json_object(Request(scope, receive), most_bytes=MAX_BODY)
        body = elsewhere.submit(asyncio.run, reading).result()
    events = body.get("events", [])
    for event in events if isinstance(events, list) else []:
        if isinstance(event, dict):
            _refuse_or(lambda event=event: read_first_grade(event))
    return read_events(events)


def _read_answer(data: bytes, path: Path) -> object:
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        return None
    paths = AnswerPaths(
        "hits.hits",
        "_id",
        score="_score",
        total="hits.total.value",
        engine_ms="took",
        failed_if="timed_out",
        next_cursor="hits.hits[-1].sort",
        signals={"s": "_source.s"},
        query_signals={"t": "took"},
    )
    return read_answer_page(answer, paths)


def _refuse_or(read: Any) -> None:
    try:
        read()
    except AnnotatorError as error:
        assert str(error).strip(), "an error without a message"


def _read_options(data: bytes, path: Path) -> object:
    text = data[:2_000].decode("utf-8", "replace")
    words = text.split(",")
    address = {
        "show": text,
        "sort": text,
        "query": text,
        "reason": text,
        "grades": text,
        "distance": text,
        "page": text,
    }
    readers: list[Any] = [
        *(partial(read_setting, name, text) for name in SETTINGS),
        *(
            partial(file_format.read_graded, InputSource("r", b"[]"), text)
            for file_format in FORMATS
            if file_format.read_graded
        ),
        partial(parse_mapping, text),
        partial(read_weights, text, option="--weights"),
        partial(read_strata, text),
        partial(read_strategy, text),
        partial(find_profile("trec").parse, text, None, "truth"),
        partial(find_profile("nablarch").parse, text, None, "truth"),
        partial(read_measure, text),
        partial(
            read_filters, exclude=words, exclude_title=[], min_length=None, one_per=text, near_duplicates=text
        ),
        partial(read_seen, text),
        partial(read_revision, text),
        partial(read_reasons, words),
        partial(read_day_or_time, text, UTC, last=True),
        partial(read_operator_hosts, text),
        partial(read_examples, text),
        partial(read_chosen, text),
        partial(read_address, address),
        partial(read_filter, address),
        partial(read_words, text),
        partial(parse_system_name, text),
    ]
    for read in readers:
        _refuse_or(read)
    return len(readers)
