"""Whatever ids and texts hold, what a format writes it reads back; and writing that again gives the same bytes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.domain.errors import ValidationError
from annotator.domain.ground_truth import QUERY_FIELDS, GroundTruth, Qrel, Query
from annotator.formats.judgments import read_judgments, write_judgments
from annotator.formats.registry import FORMATS, Format

NASTY = [
    "no", "1e3", "2026-01-01", "null", "~", "true", "12:30", "007", "0x1F", ".5", "-", "? a", "a: b", "a #b", "#a", "'", '"', "\\", "\\n",
    "{a}", "[a]", "*a", "&a", "!a", "%a", "@a", "`a`", "|", ">", "\t", "\n", "\r\n", "\x85", "\u2028", "\u2029", "\ufeff", "\ufeffa", " a ",
    "か\u3099", "が", "Ａｂ１", "🔎👩‍👩‍👧", "مرحبا بالعالم", "שלום", "법률_제17조_제1항", "1100", "\x7f", "\x01", "\uffff", "a,b", "=1+1",
]  # fmt: skip
CHARACTERS = st.characters(exclude_characters="\x00", exclude_categories=("Cs",))
TEXTS = st.one_of(st.sampled_from(NASTY), st.text(CHARACTERS, min_size=1, max_size=12))
FULL_TEXTS = TEXTS.filter(lambda text: bool(text.strip()))
NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
KNOWN_KEYS = {
    *QUERY_FIELDS,
    "query_id",
    "query_text",
    "ground_truth",
    "total_relevant",
    "queries",
    "total_queries",
    "relevance",
}
METADATA = st.dictionaries(TEXTS.filter(lambda key: key not in KNOWN_KEYS), VALUES, max_size=3)
FIELDS = st.fixed_dictionaries({name: st.one_of(st.none(), TEXTS) for name in QUERY_FIELDS})


@st.composite
def truths(draw: st.DrawFn, known: Format) -> GroundTruth:
    """Ground truths that the format can hold."""
    if known.name == "trec":
        ids = FULL_TEXTS.filter(lambda found: found.split() == [found] and not found.startswith("\ufeff"))
        rows = draw(
            st.lists(
                st.tuples(ids, ids, st.integers(0, 3)), min_size=1, max_size=6, unique_by=lambda row: row[:2]
            )
        )
        queries = tuple(Query(query_id, "") for query_id in dict.fromkeys(row[0] for row in rows))
        return GroundTruth(queries, tuple(Qrel(*row) for row in rows))
    queries, qrels = [], []
    for query_id in draw(st.lists(TEXTS, max_size=3, unique=True)):
        queries.append(Query(query_id, draw(FULL_TEXTS), **draw(FIELDS), metadata=draw(METADATA)))
        for doc_id in draw(st.lists(TEXTS, max_size=3, unique=True)):
            qrels.append(_draw_qrel(draw, known, query_id, doc_id))
    return GroundTruth(tuple(queries), tuple(qrels), draw(METADATA))


def _draw_qrel(draw: st.DrawFn, known: Format, query_id: str, doc_id: str) -> Qrel:
    grades = draw(st.lists(st.integers(0, 3), max_size=2)) if known.name == "law" else []
    return Qrel(
        query_id,
        doc_id,
        draw(st.integers(0, 3)),
        description=draw(st.one_of(st.none(), TEXTS)),
        note=draw(st.one_of(st.none(), TEXTS)) if known.name == "law" else None,
        annotator_grades=tuple((f"annotator_{number}", grade) for number, grade in enumerate(grades, 1)),
        metadata=draw(METADATA),
    )


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
@given(data=st.data())
def test_read_after_write_gives_the_same_truth_and_write_again_the_same_bytes(
    known: Format, data: st.DataObject
) -> None:
    truth = data.draw(truths(known))
    written = known.write(truth, list_grade_0=True)
    again = known.read(written, "f")
    assert again == truth
    assert [list(query.metadata) for query in again.queries] == [
        list(query.metadata) for query in truth.queries
    ]
    assert known.write(again, list_grade_0=True) == written
    assert written.endswith(b"\n")
    assert b"\r" not in written


@given(
    ids=st.lists(TEXTS, min_size=3, max_size=3),
    note=st.one_of(st.none(), TEXTS),
    grade=st.sampled_from([0, 1, 2, 3, None]),
)
def test_judgments_read_back_as_they_were(ids: list[str], note: str | None, grade: int | None) -> None:
    row = dict(zip(("query_id", "doc_id", "annotator"), ids, strict=True)) | {"grade": grade, "note": note}
    (line,) = read_judgments(write_judgments([row]), "j.csv")
    assert [line.query_id, line.doc_id, line.annotator, line.grade, line.note] == [*ids, grade, note]


@given(found=TEXTS)
def test_an_id_is_either_refused_by_trec_or_comes_back(found: str) -> None:
    known = next(known for known in FORMATS if known.name == "trec")
    try:
        written = known.write(GroundTruth((), (Qrel("q", found, 1),)))
    except ValidationError:
        assert found.split() != [found] or found.startswith("\ufeff")
    else:
        assert known.read(written, "f").qrels[0].doc_id == found
