"""Decisions from a file, on both databases."""

import pytest

from annotator.bulk.service import FileDecisions, adjudicate_file
from annotator.domain.errors import BadInput, NotAllowed
from annotator.domain.people import OPERATOR, Actor
from annotator.storage.database import Database
from tests.integration.test_adjudication import LATER, Court


@pytest.fixture
def court(database: Database) -> Court:
    return Court(database)


def file(court: Court, *lines: str, dry_run: bool = False, actor: Actor | None = None) -> FileDecisions:
    data = "\n".join(["query_id,doc_id,grade,rationale,reason", *lines]).encode()
    return adjudicate_file(
        court.database, actor or court.lead, "d", data, "d.csv", now=LATER, dry_run=dry_run
    )


def test_a_file_decides_and_the_same_file_again_changes_nothing(court: Court) -> None:
    lines = ("Q1,遠い,1,第17条,", "Q2,近い,3,直接 🎯,guideline")
    assert file(court, *lines, dry_run=True) == FileDecisions(2, 0, 0, True)
    assert court.open_ids() == ["遠い", "近い"]
    assert file(court, *lines) == FileDecisions(2, 0, 0, False)
    assert court.open_ids() == []
    assert file(court, *lines) == FileDecisions(0, 0, 2, False)
    assert file(court, "Q1,遠い,2,見直し,") == FileDecisions(0, 1, 0, False)
    assert [(item.grade, item.reason) for item in court.case(court.far).decisions] == [(1, None), (2, None)]
    assert court.case(court.near).decisions[0].reason == "guideline"


def test_a_file_with_bad_lines_changes_nothing_and_names_each(court: Court) -> None:
    both = court.person("both", "lead")
    court.judge(both, "Q2", "近い", 2)
    with pytest.raises(BadInput) as caught:
        file(
            court,
            "Q1,遠い,1,ok,",
            "Q1,無い,1,ok,",
            "Q1,同じ,1,ok,",
            "Q2,近い,2,ok,",
            "Q1,d,9,ok,",
            actor=both,
        )
    assert [str(problem) for problem in caught.value.problems] == [
        "d.csv:3: expected a pair of the pool, found Q1 無い",
        "d.csv:4: expected a pair whose judgments differ, found Q1 同じ (unanimous)",
        "d.csv:5: expected a pair that the deciding lead did not judge, found Q2 近い",
        "d.csv:6: expected a grade 0, 1, 2 or 3, found '9'",
    ]
    assert court.open_ids() == ["遠い", "近い"]


def test_only_a_lead_may_decide_from_a_file(court: Court) -> None:
    for actor in (court.hanako, OPERATOR):
        with pytest.raises(NotAllowed):
            file(court, "Q1,遠い,1,ok,", actor=actor)
