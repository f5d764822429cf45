"""The rules between readers and database: what counts as a change, and which change is refused."""

from datetime import UTC, datetime

import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.domain.ground_truth import Document, JudgmentLine, Qrel, Query, Run, RunEntry
from annotator.formats.input_tables import DocumentLine, QueryLine
from annotator.importing.judgments.judgment_plan import plan_events
from annotator.importing.judgments.qrel_plan import QrelPlan, note_annotators, note_plan
from annotator.importing.runs.run_plan import check_system, hash_run
from annotator.importing.texts.text_plan import (
    StoredDocument,
    StoredQuery,
    hash_text,
    plan_documents,
    plan_queries,
)

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def test_what_a_query_file_does_not_mention_stays() -> None:
    before = Query("q", "検索", category="c", language="ja", metadata={"a": 1, "b": 2})
    stored = {"q": StoredQuery(7, before, judged=True)}
    plan = plan_queries(stored, [QueryLine(2, Query("q", "検索", language="ko", metadata={"b": 3}))], "f")
    assert plan.changed == ((7, Query("q", "検索", category="c", language="ko", metadata={"a": 1, "b": 3})),)
    assert plan_queries(stored, [QueryLine(2, Query("q", "検索"))], "f").unchanged == 1


def test_another_text_is_refused_only_for_a_judged_query() -> None:
    line = [QueryLine(3, Query("q", "새 질의"))]
    assert plan_queries({"q": StoredQuery(1, Query("q", "질의"), judged=False)}, line, "f").changed
    with pytest.raises(
        BadInput, match="f:3: expected the text that 'q' was judged under: '질의', found '새 질의'"
    ):
        plan_queries({"q": StoredQuery(1, Query("q", "질의"), judged=True)}, line, "f")


def test_what_a_document_file_does_not_mention_stays() -> None:
    before = Document("d", "題", "", "https://example.com", "text/html", {"a": 1})
    stored = {"d": StoredDocument(7, before, hash_text("本文"))}
    title_only = plan_documents(stored, [DocumentLine("f", 1, Document("d", "題", metadata={"b": 2}))])
    assert title_only.changed == (
        (7, Document("d", "題", "", "https://example.com", "text/html", {"a": 1, "b": 2}), hash_text("本文")),
    )
    assert title_only.retexted == ()
    same = DocumentLine("f", 1, Document("d", "題", "本文", media_type="text/html"))
    assert plan_documents(stored, [same]).unchanged == 1


def test_a_new_text_is_a_change_and_a_first_text_is_no_second_one() -> None:
    line = [DocumentLine("f", 1, Document("d", "", "new"))]
    stored = {"d": StoredDocument(7, Document("d"), hash_text("old"))}
    assert plan_documents(stored, line).retexted == (7,)
    by_id_only = plan_documents({"d": StoredDocument(7, Document("d"), None)}, line)
    assert (len(by_id_only.changed), by_id_only.retexted) == (1, ())


def test_the_same_judgment_line_twice_is_one_event_and_another_grade_is_another() -> None:
    def line(number: int, grade: int, annotator: str = "が") -> JudgmentLine:
        return JudgmentLine(number, "q", "d", annotator, "graded", grade)

    events = plan_events([line(2, 1), line(3, 1), line(4, 2), line(5, 1, "か\u3099")], "f", now=NOW).events
    assert [event.line.line for event in events] == [2, 4, 5], "back to the first grade is a revision too"
    assert {event.username for event in events} == {"が"}


def test_a_judgment_yet_to_come_is_refused_with_its_line() -> None:
    late = JudgmentLine(4, "q", "d", "a", "graded", 1, judged_at="2026-01-02T00:00:01+00:00")
    with pytest.raises(BadInput, match="f:4: expected judged_at not later than now"):
        plan_events([late], "f", now=NOW)


def test_a_runs_content_is_the_same_whatever_the_order_of_its_lines() -> None:
    entries = (RunEntry("q", "a", 1, 0.5, {"x": 1, "y": 2}), RunEntry("q", "b", 2))
    turned = (entries[1], RunEntry("q", "a", 1, 0.5, {"y": 2, "x": 1}))
    assert hash_run(Run("s", entries)) == hash_run(Run("t", turned))
    assert hash_run(Run("s", entries)) != hash_run(Run("s", (entries[0], RunEntry("q", "b", 3))))


@pytest.mark.parametrize("name", ["", " ", "import", "a\n", "x" * 201])
def test_a_system_name_that_would_mislead_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        check_system(name)


def plan(*given: tuple[int, str | None]) -> list[tuple[str, int | None]]:
    """Names and grades of the events of one annotator's lines on one pair: (grade, judged_at)."""
    lines = [
        JudgmentLine(number, "q", "d", "a", "graded", grade, judged_at=at)
        for number, (grade, at) in enumerate(given, 2)
    ]
    return [(event.line_id, event.line.grade) for event in plan_events(lines, "f", now=NOW).events]


def test_a_line_that_stands_twice_in_a_row_changes_no_other_lines_id() -> None:
    once = plan((2, None), (0, None), (2, None), (0, None), (2, None))
    twice = plan((2, None), (0, None), (2, None), (2, None), (0, None), (2, None))
    assert [grade for _, grade in once] == [2, 0, 2, 0, 2]
    assert twice == once


def test_lines_with_times_stand_by_their_times_and_the_same_press_is_one_event() -> None:
    early, middle, late = (f"2026-01-01T0{hour}:00:00+00:00" for hour in (1, 2, 3))
    order = plan((3, late), (1, early), (2, middle), (3, late))
    assert [grade for _, grade in order] == [1, 2, 3]
    assert [grade for _, grade in plan((3, late), (1, None), (2, early))] == [3, 1, 2], "not all have a time"


def test_lines_that_contradict_an_earlier_one_are_counted() -> None:
    def line(doc_id: str, grade: int) -> JudgmentLine:
        return JudgmentLine(None, "q", doc_id, "a", "graded", grade)

    given = [line("d", 2), line("e", 1), line("d", 0), line("d", 2), line("e", 1)]
    assert plan_events(given, "f", now=NOW).contradicting == 2


def test_what_annotators_of_a_file_differ_on_is_counted_by_pair() -> None:
    def line(doc_id: str, annotator: str, grade: int) -> JudgmentLine:
        return JudgmentLine(None, "q", doc_id, annotator, "graded", grade)

    same, other = [line("d", "a1", 2), line("d", "a2", 2)], [line("e", "a1", 2), line("e", "a2", 0)]
    assert note_annotators([*same, *other], new=3) == (
        "4 judgments of a1, a2 taken as independent, 3 of them new",
        "1 pair on which they differ: they wait for a lead; what the file settled is a suggestion, in the pair's history",
    )
    assert note_annotators(same, new=2)[1].startswith("0 pairs on which they differ")


def test_what_becomes_of_imported_grades_is_counted() -> None:
    rows = tuple((number, Qrel("q", f"d{number}", 1), number == 0) for number in range(3))
    assert note_plan(QrelPlan(rows, added=3, judged_here=1, ranks={})) == (
        "1 grade is kept as settled: nobody judges its pair",
        "2 grades are suggestions, which only leads see",
        "1 pair was judged here already: the judgments count",
    )
