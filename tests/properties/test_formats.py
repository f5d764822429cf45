"""Whatever ids and texts hold, what a format writes it reads back; and writing that again gives the same bytes.

Each registered format is drawn the ground truths that its features say it can hold.
"""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from annotator.domain.errors import ValidationError
from annotator.domain.ground_truth import QUERY_FIELDS, Document, GroundTruth, Qrel, Query
from annotator.domain.texts import clean
from annotator.formats.conversion_losses import find_losses, list_wrong
from annotator.formats.format import Format
from annotator.formats.judgments import read_judgments, write_judgments
from annotator.formats.registry import FORMATS, find_format, read_truth
from annotator.formats.syntax.source import InputSource
from tests.written_formats import write_files

NASTY = [
    "no", "1e3", "2026-01-01", "null", "~", "true", "12:30", "007", "0x1F", ".5", "-", "? a", "a: b", "a #b", "#a", "'", '"', "\\", "\\n",
    "{a}", "[a]", "*a", "&a", "!a", "%a", "@a", "`a`", "|", ">", "\t", "\n", "\r\n", "\x85", "\u2028", "\u2029", "\ufeff", "\ufeffa", " a ",
    "か\u3099", "が", "Ａｂ１", "🔎👩‍👩‍👧", "مرحبا بالعالم", "שלום", "법률_제17조_제1항", "1100", "\x7f", "\x01", "\uffff", "a,b", "=1+1",
    "a\rb", 'a"b', '"a', "a\tb", "query_id", "3", "a\u3000b", "\u00a0",
]  # fmt: skip
CHARACTERS = st.characters(exclude_characters="\x00", exclude_categories=("Cs",))
TEXTS = st.one_of(st.sampled_from(NASTY), st.text(CHARACTERS, min_size=1, max_size=12))
NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)


@st.composite
def truths(draw: st.DrawFn, file_format: Format) -> GroundTruth:
    """Ground truths that the format can hold."""
    holds, reserved = file_format.features, file_format.reserved
    ids = TEXTS if file_format.carries_id is None else TEXTS.filter(file_format.carries_id)
    fewest = 0 if "queries_without_qrels" in holds else 1
    texts = st.one_of(st.just(""), TEXTS) if "query_texts" in holds else st.just("")
    fields = st.fixed_dictionaries({name: _optional(file_format) for name in QUERY_FIELDS})
    queries, qrels = [], []
    for number, drawn in enumerate(draw(st.lists(ids, min_size=fewest, max_size=3, unique=True)), 1):
        query = Query(drawn if "query_ids" in holds else f"q{number}", draw(texts))
        if "query_fields" in holds:
            query = replace(query, **draw(fields))
        if "query_metadata" in holds:
            query = replace(query, metadata=draw(_metadata(file_format, reserved.query)))
        queries.append(query)
        doc_ids = draw(st.lists(ids, min_size=fewest, max_size=3, unique=True))
        for rank, doc_id in enumerate(doc_ids):
            grade = draw(st.integers(0, 3)) if "grades" in holds else len(doc_ids) - rank
            qrels.append(_draw_qrel(draw, file_format, Qrel(query.query_id, doc_id, grade)))
    documents = draw(_documents(file_format, ids)) if "documents" in holds else []
    about = draw(_metadata(file_format, reserved.file)) if "file_metadata" in holds else {}
    truth = GroundTruth(tuple(queries), tuple(qrels), about, tuple(documents))
    return (
        _mix(truth, draw(st.permutations(qrels)))
        if all(file.by_qrel for file in file_format.files)
        else truth
    )


def _optional(file_format: Format) -> st.SearchStrategy[str | None]:
    texts = st.one_of(st.none(), TEXTS)
    return st.one_of(st.just(""), texts) if "empty_texts" in file_format.features else texts


def _metadata(file_format: Format, reserved: frozenset[str]) -> st.SearchStrategy[dict[str, Any]]:
    values = VALUES if "typed_metadata" in file_format.features else TEXTS
    return st.dictionaries(TEXTS.filter(lambda key: key not in reserved), values, max_size=3)


def _documents(file_format: Format, ids: st.SearchStrategy[str]) -> st.SearchStrategy[list[Document]]:
    metadata = _metadata(file_format, file_format.reserved.document)
    texts = st.one_of(st.just(""), TEXTS)
    return st.lists(
        st.builds(Document, ids, title=texts, text=texts, metadata=metadata),
        max_size=3,
        unique_by=lambda document: document.doc_id,
    )


def _draw_qrel(draw: st.DrawFn, file_format: Format, qrel: Qrel) -> Qrel:
    holds = file_format.features
    most = 4 if "annotator_grades" in holds else 2 if "two_annotators" in holds else 0
    grades = draw(st.lists(st.integers(0, 3), max_size=most))
    metadata: dict[str, Any] = {}
    if "qrel_metadata" in holds:
        metadata = draw(_metadata(file_format, file_format.reserved.qrel))
    elif "iterations" in holds:
        metadata = draw(st.sampled_from([{}, {"iteration": "Q0"}, {"iteration": "7"}]))
    origins = ("unanimous", "adjudicated", "single", "imported") if "origins" in holds else ("imported",)
    return qrel._replace(
        origin=draw(st.sampled_from(origins)),
        description=draw(_optional(file_format)) if "descriptions" in holds else None,
        note=draw(_optional(file_format)) if "notes" in holds else None,
        annotator_grades=tuple((f"annotator_{number}", grade) for number, grade in enumerate(grades, 1)),
        metadata=metadata,
    )


def _mix(truth: GroundTruth, qrels: list[Qrel]) -> GroundTruth:
    """The qrels in another order, as only a file of a line per qrel can hold them; queries by first appearance."""
    first = dict.fromkeys(qrel.query_id for qrel in qrels)
    queries = {query.query_id: query for query in truth.queries}
    return replace(truth, queries=tuple(queries[query_id] for query_id in first), qrels=tuple(qrels))


def read_back(file_format: Format, files: dict[str, bytes]) -> GroundTruth:
    """What the format reads from these files."""
    grades_by = "position" if file_format.needs_grades_by else None
    if set(files) == {""}:
        return read_truth(InputSource("f", files[""]), format_name=file_format.name, grades_by=grades_by)[1]
    with TemporaryDirectory() as folder:
        for path, data in files.items():
            target = Path(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        return read_truth(InputSource(folder), format_name=file_format.name, grades_by=grades_by)[1]


@pytest.mark.parametrize("file_format", FORMATS, ids=lambda file_format: file_format.name)
@settings(max_examples=settings.default.max_examples // 2)  # type: ignore[union-attr]
@given(data=st.data())
def test_read_after_write_gives_the_same_truth_and_write_again_the_same_bytes(
    file_format: Format, data: st.DataObject
) -> None:
    truth = data.draw(truths(file_format))
    written = write_files(file_format, truth, list_grade_0=True)
    again = read_back(file_format, written)
    assert again == truth
    if file_format.lay_out is None:  # a table has one order of columns for all of its rows
        assert [list(query.metadata) for query in again.queries] == [
            list(query.metadata) for query in truth.queries
        ]
    assert write_files(file_format, again, list_grade_0=True) == written
    assert not any(b"\r" in data and file_format.name not in ("csv", "beir") for data in written.values())


@pytest.mark.parametrize("file_format", FORMATS, ids=lambda file_format: file_format.name)
@settings(max_examples=settings.default.max_examples // 2)  # type: ignore[union-attr]
@given(data=st.data())
def test_what_a_format_holds_is_no_loss(file_format: Format, data: st.DataObject) -> None:
    truth = data.draw(truths(file_format))
    if "query_texts" in file_format.features:
        queries = (replace(query, text=query.text or "x") for query in truth.queries)
        truth = replace(truth, queries=tuple(queries))
    losses = find_losses(truth, file_format, list_grade_0=True)
    assert [
        loss for loss in losses if "of grade 0 listed" not in loss.what and "the order" not in loss.what
    ] == []


@pytest.mark.parametrize("source", FORMATS, ids=lambda file_format: file_format.name)
@settings(max_examples=settings.default.max_examples // 2)  # type: ignore[union-attr]
@given(data=st.data())
def test_any_format_becomes_any_other_or_is_refused_beforehand(source: Format, data: st.DataObject) -> None:
    truth = data.draw(truths(source))
    target = data.draw(st.sampled_from(FORMATS))
    if list_wrong(find_losses(truth, target, list_grade_0=True)):
        return
    written = write_files(target, truth, list_grade_0=True)
    if not truth.qrels and "queries_without_qrels" not in target.features:
        return
    if any(qrel.grade > 3 for qrel in truth.qrels):
        return  # read back nowhere: 0 to 3 is the scale
    again = read_back(target, written)
    if "query_ids" in target.features:
        grades = {(qrel.query_id, qrel.doc_id): qrel.grade for qrel in again.qrels}
        assert grades == {(qrel.query_id, qrel.doc_id): qrel.grade for qrel in truth.qrels}


@given(
    ids=st.tuples(TEXTS, TEXTS, TEXTS.filter(clean)),  # an annotator's name has a visible character
    note=st.one_of(st.none(), TEXTS),
    grade=st.sampled_from([0, 1, 2, 3, None]),
)
def test_judgments_read_back_as_they_were(
    ids: tuple[str, str, str], note: str | None, grade: int | None
) -> None:
    row = dict(zip(("query_id", "doc_id", "annotator"), ids, strict=True)) | {"grade": grade, "note": note}
    (line,) = read_judgments(write_judgments([row]), "j.csv")
    assert [line.query_id, line.doc_id, line.annotator, line.grade, line.note] == [*ids, grade, note]


@given(doc_id=TEXTS)
@example(doc_id="a\u3000b")
def test_an_id_is_either_refused_by_trec_or_comes_back(doc_id: str) -> None:
    file_format = find_format("trec")
    truth = GroundTruth((Query("q", ""),), (Qrel("q", doc_id, 1),))
    try:
        written = write_files(file_format, truth)
    except ValidationError:
        assert list_wrong(find_losses(truth, file_format))
    else:
        assert not list_wrong(find_losses(truth, file_format))
        assert read_back(file_format, written).qrels[0].doc_id == doc_id
