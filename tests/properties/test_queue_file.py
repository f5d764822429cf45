"""The queue as a file: whatever ids and notes hold, what the meeting decides comes back to the very pairs."""

import csv
import io

from hypothesis import example, given
from hypothesis import strategies as st

from annotator.adjudication.bulk.bulk_files import QueueLine, read_decisions, write_queue
from annotator.domain.errors import Problems
from tests.properties.test_formats import NASTY, TEXTS

NAMES = st.tuples(TEXTS, TEXTS)
REST = ("why", "apart", "impact", "grades", "decided", "notes", "query", "title", "category", "since", "link")


@given(st.lists(NAMES, min_size=1, max_size=5, unique=True), st.lists(TEXTS, min_size=11, max_size=11))
@example([(text, text) for text in NASTY], NASTY[:11])
@example([("x" * 1_000, "'" * 1_000)], ["="] * 11)
def test_what_is_exported_and_filled_in_names_the_same_pairs(
    names: list[tuple[str, str]], cells: list[str]
) -> None:
    lines = [
        QueueLine(query_id, doc_id, seen=f"key{index}:0-ab", **dict(zip(REST, cells, strict=True)))
        for index, (query_id, doc_id) in enumerate(names)
    ]
    header, *rows = csv.reader(io.StringIO(b"".join(write_queue(lines)).decode("utf-8-sig"), newline=""))
    for index, row in enumerate(rows):
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row)
        row[2:4] = str(index % 4), "words"
    made = io.StringIO()
    csv.writer(made).writerows([header, *rows])
    problems = Problems("m.csv")
    decisions = read_decisions(("\ufeff" + made.getvalue()).encode(), "m.csv", problems)
    problems.raise_if_any()
    assert [(line.query_id, line.doc_id) for line in decisions] == names
    assert [(line.decided, line.pair) for line in decisions] == [
        (number % 4, f"key{number}") for number in range(len(names))
    ]
