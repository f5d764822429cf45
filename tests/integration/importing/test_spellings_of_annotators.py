"""One person whose name a file spells in several ways is one annotator. On both databases."""

from pathlib import Path
from typing import Any

import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.importing.judgments.judgments_service import import_judgments, import_qrels
from annotator.importing.judgments.provenance import read_provenance
from annotator.importing.texts.texts_service import import_queries
from annotator.storage.database import Database
from annotator.storage.lookup import list_usernames
from annotator.storage.tables.central import CurrentJudgmentRow, PersonRow
from tests.integration.importing.test_importing import NOW, Desk, counts

HEADER = "query_id,doc_id,annotator,grade\n"
SPELLINGS = ["hana ", "HANA", "Hana", "ｈａｎａ", "ha\u200bna", "\u3000hana"]


@pytest.fixture
def desk(database: Database, tmp_path: Path) -> Desk:
    made = Desk(database, tmp_path)
    made.bring(import_queries, "q.csv", "query_id,text\nq1,x\nq2,y\n")
    return made


def list_people(desk: Desk) -> list[str]:
    """The usernames, the oldest account first."""
    with desk.database.read() as session:
        return list_usernames(session)


def list_answers(desk: Desk) -> list[tuple[Any, ...]]:
    return desk.rows(CurrentJudgmentRow.annotator_pk, CurrentJudgmentRow.pair_pk, CurrentJudgmentRow.grade)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_same_judgments_under_another_spelling_are_the_same_judgments(desk: Desk, spelling: str) -> None:
    desk.bring(import_judgments, "a.csv", HEADER + "q1,d1,hana,1\nq2,d1,hana,0\n")
    again = f"{HEADER}q1,d1,{spelling},1\nq2,d1,{spelling},0\nq2,d2,{spelling},3\n"
    report = desk.bring(import_judgments, "b.csv", again)
    assert counts(report) == (3, 1, 0, 2)
    assert list_people(desk) == ["hana"]
    assert len(list_answers(desk)) == 3
    (note,) = [note for note in report.notes if "spelling" in note]
    assert note.endswith("= hana")


def test_spellings_in_one_file_are_one_new_person_who_is_listed(desk: Desk) -> None:
    lines = "".join(f"q1,d{number},{name},2\n" for number, name in enumerate(["hana", *SPELLINGS]))
    report = desk.bring(import_judgments, "a.csv", HEADER + lines + "q1,d0,HANA,2\n")
    assert list_people(desk) == ["hana"]
    assert counts(report) == (8, 7, 0, 1)
    (note,) = [note for note in report.notes if "spelling" in note]
    assert note.startswith("6 names are other spellings")
    assert r"'ha\u200bna' = hana" in note


def test_a_contradiction_between_two_spellings_of_one_file_is_refused_with_both_lines(desk: Desk) -> None:
    before = desk.dump()
    expected = r"a\.csv:3: expected the answer of line 2, which is by the same annotator \('hana'\), found 0 by 'Hana'"
    with pytest.raises(BadInput, match=expected):
        desk.bring(import_judgments, "a.csv", HEADER + "q1,d1,hana,3\nq1,d1,Hana,0\n")
    assert desk.dump() == before


def test_another_spelling_revises_no_judgment_of_the_person(desk: Desk) -> None:
    desk.bring(import_judgments, "a.csv", HEADER + "q1,d1,hana,3\n")
    before = desk.dump()
    with pytest.raises(BadInput, match=r"b\.csv:2: expected the annotator as 'hana', .* found 'hana '"):
        desk.bring(import_judgments, "b.csv", HEADER + "q1,d1,hana ,0\n")
    assert desk.dump() == before
    assert counts(desk.bring(import_judgments, "b.csv", HEADER + "q1,d1,hana,0\n")) == (1, 0, 1, 0)


def test_people_of_earlier_versions_keep_their_own_names_and_a_third_spelling_is_refused(desk: Desk) -> None:
    with desk.database.write() as session:
        for name in ("hana", "hana "):
            session.add(PersonRow.model_validate({"username": name, "name": name, "created_at": NOW}))
    desk.bring(import_judgments, "a.csv", HEADER + "q1,d1,hana,3\nq1,d1,hana ,0\n")
    assert len({answer[0] for answer in list_answers(desk)}) == 2
    with pytest.raises(BadInput, match=r"b\.csv:2: expected the annotator as 'hana', found HANA"):
        desk.bring(import_judgments, "b.csv", HEADER + "q1,d2,HANA,3\n")


def test_a_name_without_a_visible_character_is_refused(desk: Desk) -> None:
    with pytest.raises(BadInput, match=r"a\.csv:2: expected annotator to be a name with a visible character"):
        desk.bring(import_judgments, "a.csv", HEADER + "q1,d1, \u200b,3\n")


def test_annotators_named_in_a_declaration_are_the_people_who_are_there(desk: Desk, tmp_path: Path) -> None:
    desk.bring(import_judgments, "a.csv", HEADER + "q1,d1,hana,3\n")
    qrels = "query_id,doc_id,grade,annotator_1,annotator_2\nq1,d1,3,3,0\n"
    declared = read_provenance(desk.put("p.yaml", "annotators: {annotator_1: Hana, annotator_2: Mei}\n"))
    report = desk.bring(import_qrels, "t.csv", qrels, as_judgments=True, declared=declared)
    assert list_people(desk) == ["hana", "Mei"]
    assert any("'Hana' = hana" in note for note in report.notes)
    with pytest.raises((BadInput, ValidationError), match="another person than annotator_1"):
        read_provenance(desk.put("p.yaml", 'annotators: {annotator_1: hana, annotator_2: "ｈａｎａ "}\n'))
