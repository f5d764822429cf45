"""Who judges what: queries given to people, taken back and handed on; who waits on whom. On both databases."""

import json
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlmodel import col
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.dataset.service import change_settings
from annotator.domain.errors import (
    AnnotatorError,
    ConflictError,
    NotAllowed,
    NotFound,
    StateError,
    ValidationError,
)
from annotator.domain.people import OPERATOR, Actor
from annotator.labeling.assignment import NOBODY, JudgmentProgress, QueryFilter, QuerySelection
from annotator.labeling.assignment_service import (
    assign,
    change_assignment,
    list_left,
    list_matching_queries,
    list_queries_to_assign,
    preview_assignment,
    preview_overlap,
    reassign,
    show_assignment,
    take_back,
    undo_assignment,
)
from annotator.labeling.assignment_steps import (
    AssignmentPreview,
    AssignmentResult,
    AssignmentStep,
    PersonLoad,
    StepKind,
)
from annotator.people.roles_service import find_actor
from annotator.people.service import change_person, disable_person
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.tables.central import DatasetRow, JudgmentRow, PairRow, QueryRow
from annotator.storage.tables.labeling import DisclosureRow, LeaseRow
from tests.databases import CopyWorld
from tests.integration.assignment_world import AssignmentWorld, find_pk
from tests.integration.labeling_world import NOW

HOWTO = QuerySelection(category="howto")


def make_world(database: Database) -> AssignmentWorld:
    """花子 and kim judge everything; lee leads."""
    made = AssignmentWorld(database)
    for username in ("花子", "kim"):
        made.person(username)
    made.person("lee", "lead")
    return made


@pytest.fixture
def world(copy_world: CopyWorld) -> AssignmentWorld:
    return copy_world(make_world)


def _find(world: AssignmentWorld, username: str) -> Actor:
    with world.database.read() as session:
        return find_actor(session, username)


def _ids(*names: str) -> QuerySelection:
    return QuerySelection(query_ids=names)


def _give(world: AssignmentWorld, people: list[str], chosen: QuerySelection) -> Any:
    return assign(world.database, OPERATOR, "d", people, chosen, now=world.now)


def _limit(world: AssignmentWorld, username: str, **expertise: list[str] | None) -> None:
    change_person(world.database, OPERATOR, username, dataset="d", expertise=expertise, now=NOW)


def _show(world: AssignmentWorld) -> Any:
    return show_assignment(world.database, OPERATOR, "d", now=world.now)


def _given(world: AssignmentWorld) -> dict[str, tuple[str, ...]]:
    return {query.query_id: query.given_to for query in _show(world).queries}


def _stuck(world: AssignmentWorld) -> dict[str, int]:
    return {query.query_id: query.stuck for query in _show(world).queries if query.stuck}


def _left(world: AssignmentWorld) -> dict[str, int]:
    return {person.username: person.pairs for person in _show(world).people if person.works}


def _count(database: Database, row_class: Any, *conditions: Any) -> int:
    with database.read() as session:
        return len(session.execute(select(row_class).where(*conditions)).all())


class TestGiving:
    def test_a_list_of_queries_or_a_category_goes_to_named_people(self, world: AssignmentWorld) -> None:
        done = _give(world, ["kim", "花子"], _ids("Q0", "Q2"))
        assert (done.queries, done.people, done.changed) == (2, ("kim", "花子"), 4)
        assert _give(world, ["kim"], HOWTO).changed == 1
        assert _give(world, ["kim"], QuerySelection(category="howto", language="ko")).queries == 1
        assert _given(world) == {"Q0": ("kim", "花子"), "Q1": ("kim",), "Q2": ("kim", "花子"), "Q3": ()}

    def test_one_unknown_query_or_person_and_nothing_is_given(self, world: AssignmentWorld) -> None:
        with pytest.raises(NotFound, match="no query with the id Q8, Q9"):
            _give(world, ["kim"], _ids("Q0", "Q9", "Q8"))
        with pytest.raises(NotFound, match="No query has this category"):
            _give(world, ["kim"], QuerySelection(category="判例", language="ko"))
        with pytest.raises(StateError, match="nobody has no role on this dataset"):
            _give(world, ["kim", "nobody"], HOWTO)
        with pytest.raises(ValidationError, match="Choose queries, a category or a language"):
            _give(world, ["kim"], QuerySelection())
        with pytest.raises(ValidationError, match="Choose at least one person"):
            _give(world, [], HOWTO)
        assert set(_given(world).values()) == {()}

    def test_a_query_that_somebody_may_not_judge_is_told_and_nothing_is_given(
        self, world: AssignmentWorld
    ) -> None:
        _limit(world, "kim", categories=["howto"], languages=["ko"])
        with pytest.raises(
            StateError, match=r"kim does not judge the category or language of .*: Q0 \(howto, ja\)"
        ):
            _give(world, ["花子", "kim"], HOWTO)
        assert set(_given(world).values()) == {()}

    def test_nobody_disabled_gets_queries(self, world: AssignmentWorld) -> None:
        disable_person(world.database, OPERATOR, "kim", now=NOW)
        with pytest.raises(StateError, match="kim is disabled"):
            _give(world, ["kim"], HOWTO)

    def test_only_a_lead_may(self, world: AssignmentWorld) -> None:
        kim = world.person("kim2")
        for act in (
            lambda: assign(world.database, kim, "d", ["kim"], HOWTO, now=NOW),
            lambda: take_back(world.database, kim, "d", ["kim"], HOWTO, now=NOW),
            lambda: reassign(world.database, kim, "d", leaver="花子", to="kim", now=NOW),
            lambda: show_assignment(world.database, kim, "d", now=NOW),
            lambda: preview_overlap(world.database, kim, "d", overlap=1, rules=None),
        ):
            with pytest.raises(NotAllowed):
                act()

    def test_what_is_taken_back_by_the_last_one_is_everybodys_again(self, world: AssignmentWorld) -> None:
        _give(world, ["kim", "花子"], HOWTO)
        assert take_back(world.database, OPERATOR, "d", ["kim"], _ids("Q0"), now=NOW).changed == 1
        assert _given(world)["Q0"] == ("花子",)
        assert (
            take_back(world.database, OPERATOR, "d", ["kim", "花子"], QuerySelection(), now=NOW).changed == 3
        )
        assert set(_given(world).values()) == {()}

    def test_taking_back_names_somebody_and_frees_the_pairs_of_who_has_them_no_more(
        self, world: AssignmentWorld
    ) -> None:
        with pytest.raises(ValidationError, match="Choose at least one person"):
            take_back(world.database, OPERATOR, "d", [], HOWTO, now=NOW)
        _give(world, ["kim", "花子"], _ids("Q0"))
        _give(world, ["kim"], _ids("Q1"))
        assert len(world.send(_find(world, "kim"), want=6).pairs) == 6
        done = take_back(world.database, OPERATOR, "d", ["kim"], HOWTO, now=NOW)
        assert (done.queries, done.changed, done.leases) == (2, 2, 3), "Q1 is everybody's again, kim's too"

    def test_pairs_in_the_hands_of_others_are_free_at_once(self, world: AssignmentWorld) -> None:
        kim = world.send(_find(world, "kim"), want=12)
        assert len(kim.pairs) == 12
        assert _give(world, ["花子"], HOWTO).leases == 6
        assert _count(world.database, LeaseRow, col(LeaseRow.expires_at) > world.now) == 6


class TestHandingOn:
    def test_a_leavers_queries_go_to_another_and_their_leases_end(self, world: AssignmentWorld) -> None:
        _give(world, ["kim"], HOWTO)
        _give(world, ["花子"], _ids("Q0"))
        kim = _find(world, "kim")
        world.judge(kim, pairs=2)
        world.send(kim, want=3)
        disable_person(world.database, OPERATOR, "kim", now=NOW)
        assert [(part.dataset, part.queries) for part in list_left(world.database, OPERATOR, "kim")] == [
            ("d", 2)
        ]
        done = reassign(world.database, OPERATOR, "d", leaver="kim", to="花子", now=world.now)
        assert (done.queries, done.shared) == (2, 1)
        assert _given(world)["Q0"] == _given(world)["Q1"] == ("花子",)
        assert _count(world.database, LeaseRow, col(LeaseRow.expires_at) > world.now) == 0
        assert _count(world.database, JudgmentRow) == 2
        assert list_left(world.database, OPERATOR, "kim") == []

    def test_queries_that_the_other_may_not_judge_stay_where_they_are(self, world: AssignmentWorld) -> None:
        _give(world, ["kim"], HOWTO)
        _limit(world, "花子", languages=["ko"])
        with pytest.raises(
            StateError, match=r"花子 does not judge the category or language of .*: Q0 \(howto, ja\)"
        ):
            reassign(world.database, OPERATOR, "d", leaver="kim", to="花子", now=NOW)
        with pytest.raises(ValidationError, match="kim is named twice"):
            reassign(world.database, OPERATOR, "d", leaver="kim", to="kim", now=NOW)
        assert _given(world)["Q0"] == ("kim",)

    def test_what_somebody_leaves_is_told_to_those_who_lead_there(self, world: AssignmentWorld) -> None:
        _give(world, ["kim"], HOWTO)
        assert len(list_left(world.database, _find(world, "lee"), "kim")) == 1
        assert list_left(world.database, _find(world, "花子"), "kim") == []


class TestWaiting:
    def test_what_is_left_for_a_person_is_what_they_may_still_judge(self, world: AssignmentWorld) -> None:
        assert _left(world) == {"kim": 12, "花子": 12}
        _limit(world, "kim", categories=["howto"])
        _give(world, ["花子"], _ids("Q0"))
        assert _left(world) == {"kim": 3, "花子": 12}
        world.judge(_find(world, "花子"), pairs=4)
        assert _left(world)["花子"] == 8

    def test_a_lease_is_shown_with_the_time_since_it_was_taken(self, world: AssignmentWorld) -> None:
        world.send(_find(world, "kim"), want=3)
        world.later(minutes=20)
        kim = next(person for person in _show(world).people if person.username == "kim")
        assert (kim.holds, kim.held_seconds, kim.reserved_seconds) == (3, 20 * 60, 40 * 60)
        world.later(minutes=60)
        kim = next(person for person in _show(world).people if person.username == "kim")
        assert (kim.holds, kim.held_seconds) == (0, None)

    def test_a_query_says_whom_it_waits_for(self, world: AssignmentWorld) -> None:
        _give(world, ["kim"], _ids("Q0"))
        waits = {query.query_id: dict(query.waits_for) for query in _show(world).queries}
        assert waits["Q0"] == {"kim": 3}
        assert waits["Q1"] == {"kim": 3, "花子": 3}

    def test_pairs_that_too_few_may_judge_are_counted(self, world: AssignmentWorld) -> None:
        assert _stuck(world) == {}
        _give(world, ["kim"], _ids("Q0"))
        assert _stuck(world) == {"Q0": 3}
        change_settings(world.database, OPERATOR, "d", {"overlap": "1"}, now=NOW)
        assert _stuck(world) == {}
        _limit(world, "kim", categories=["判例"])
        assert _stuck(world) == {"Q0": 3}
        assert _show(world).stuck == 3

    def test_an_overlap_above_the_people_there_are_leaves_pairs_stuck_until_judged_by_others(
        self, world: AssignmentWorld
    ) -> None:
        change_settings(world.database, OPERATOR, "d", {"overlap": "3"}, now=NOW)
        assert _show(world).stuck == 12
        world.judge(_find(world, "lee"), pairs=5)
        assert _show(world).stuck == 0  # who judges here counts as one who may

    def test_a_pair_whose_grades_were_seen_waits_for_somebody_else(self, world: AssignmentWorld) -> None:
        with world.database.write() as session:
            pair_pk = session.scalars(select(col(PairRow.pk)).order_by(col(PairRow.pk))).first()
            seen = {"pair_pk": pair_pk, "person_pk": find_pk(world.database, "kim"), "disclosed_at": NOW}
            session.add(DisclosureRow.model_validate(seen))
        assert _left(world) == {"kim": 11, "花子": 12}
        assert _stuck(world) == {"Q0": 1}

    def test_somebody_known_from_a_file_is_not_waited_for(self, world: AssignmentWorld) -> None:
        change_settings(world.database, OPERATOR, "d", {"overlap": "3"}, now=NOW)
        super(AssignmentWorld, world).person("from-file")
        assert _show(world).stuck == 12


class TestPreview:
    @pytest.mark.parametrize(
        ("overlap", "rules"),
        [
            (1, None),
            (3, None),
            (1, {"category": {"howto": 2}}),
            (1, {"share": {"share": 0.4, "overlap": 3}, "cap": 2}),
            (2, {"conditional": 2}),
        ],
    )
    def test_it_says_what_the_change_then_makes(
        self, world: AssignmentWorld, overlap: int, rules: dict[str, Any] | None
    ) -> None:
        for username, grade in (("花子", 0), ("kim", 3)):
            world.judge(_find(world, username), pairs=5, grade=grade)
        before, _ = preview_overlap(world.database, OPERATOR, "d", overlap=overlap, rules=rules)
        with world.database.write() as session:
            session.execute(update(DatasetRow).values(overlap=overlap, overlap_rules=rules))
            derive_work(session, key_of(find_dataset(session, "d").pk))
            left = sum(session.scalars(select(col(PairRow.lacking))))
        assert before == JudgmentProgress(10, left)
        assert _show(world).judgments == before


def test_the_commands_give_take_back_hand_on_and_show(world: AssignmentWorld, tmp_path: Any) -> None:
    url = world.database.url.render_as_string(hide_password=False)

    def run(*words: str) -> str:
        done = CliRunner().invoke(app, ["--database", url, *words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    (tmp_path / "ids").write_text("﻿Q0\n\nQ2\n", encoding="utf-8")
    output = run(
        "assign", "d", "--to", "kim", "--to", "花子", "--queries", str(tmp_path / "ids"), "--as", "lee"
    )
    assert "Assigned 2 queries: kim, 花子." in output
    assert "Unassigned 1 query: 花子." in run("assign", "d", "--from", "花子", "--queries", "Q2")
    listed = run("assign", "d", "--list")
    assert "Each pair is judged by 2 annotators." in listed
    assert "3 pairs cannot be finished: too few people can judge them." in listed
    assert "2 queries go from kim to 花子 (1 of them shared before); 0 pairs in progress freed." in run(
        "reassign", "d", "--from", "kim", "--to", "花子"
    )
    body = json.loads(run("assign", "d", "--list", "--json"))
    assert body["queries"][0]["given_to"] == ["花子"]
    assert body["judgments"] == {"done": 0, "left": 24}
    output = run("people", "disable", "花子")
    assert "annotator reassign d --from 花子 --to USER" in output
    wrong = CliRunner().invoke(app, ["--database", url, "assign", "d", "--to", "kim", "--list"])
    assert wrong.exit_code == 2


def _step(kind: StepKind, people: tuple[str, ...], *query_ids: str, to: str | None = None) -> AssignmentStep:
    return AssignmentStep(kind, people, QuerySelection(query_ids=query_ids or None), to)


def _preview(world: AssignmentWorld, step: AssignmentStep) -> AssignmentPreview:
    return preview_assignment(world.database, OPERATOR, "d", step, now=world.now)


def _make(world: AssignmentWorld, step: AssignmentStep, seen: str | None = None) -> AssignmentResult:
    return change_assignment(world.database, OPERATOR, "d", step, seen=seen, now=world.now)


class TestSeeingTheNumbersFirst:
    def test_a_preview_counts_what_assigning_changes_and_changes_nothing(
        self, world: AssignmentWorld
    ) -> None:
        _give(world, ["kim"], _ids("Q0"))
        kim = _find(world, "kim")
        world.judge(kim, pairs=2)
        world.send(kim, want=1)
        given = _given(world)
        shown = _preview(world, _step("assign", ("花子",), "Q0", "Q1"))
        assert (shown.queries, shown.pairs, shown.changed, shown.judged) == (2, 6, 2, 0)
        assert (shown.restricted, shown.opened, shown.held) == (1, 0, 0)
        assert (shown.stuck, shown.stuck_after) == (3, 3)  # Q0's are no longer stuck, Q1's are
        assert {load.username: load for load in shown.loads} == {
            "kim": PersonLoad("kim", "", 1, 1, 10, 7),
            "花子": PersonLoad("花子", "", 0, 2, 9, 12),
        }
        assert _given(world) == given
        assert _preview(world, _step("assign", ("kim",), "Q0")).changed == 0
        assert _preview(world, _step("assign", ("kim",), "Q0")).judged == 2

    @pytest.mark.parametrize(
        "step",
        [
            _step("assign", ("花子",), "Q0", "Q2"),
            _step("unassign", ("kim",), "Q0", "Q1"),
            _step("reassign", ("kim",), to="花子"),
        ],
    )
    def test_what_was_counted_is_what_happens(self, world: AssignmentWorld, step: AssignmentStep) -> None:
        world.send(_find(world, "kim"), want=7)
        _give(world, ["kim"], _ids("Q0", "Q1"))
        world.send(_find(world, "花子"), want=3)
        shown = _preview(world, step)
        done = _make(world, step, shown.seen)
        assert (done.queries, done.changed, done.leases) == (shown.queries, shown.changed, shown.held)
        after = {person.username: (person.queries, person.pairs) for person in _show(world).people}
        for load in shown.loads:
            assert after[load.username] == (load.queries_after, load.pairs_after)
        assert _show(world).stuck == shown.stuck_after

    def test_another_leads_change_of_these_queries_in_between_refuses_it(
        self, world: AssignmentWorld
    ) -> None:
        step = _step("assign", ("花子",), "Q0", "Q1")
        seen = _preview(world, step).seen
        _give(world, ["kim"], _ids("Q2"))  # of another query
        assert _make(world, step, seen).changed == 2
        step = _step("unassign", ("花子",), "Q0")
        seen = _preview(world, step).seen
        _give(world, ["kim"], _ids("Q0"))
        given = _given(world)
        with pytest.raises(ConflictError, match="Check the preview again"):
            _make(world, step, seen)
        assert _given(world) == given

    @pytest.mark.parametrize(
        "step",
        [
            _step("assign", ("花子", "kim"), "Q0", "Q1", "Q3"),
            _step("unassign", ("kim", "花子"), "Q0", "Q1"),
            _step("reassign", ("kim",), to="花子"),
        ],
    )
    def test_the_reverse_step_brings_back_exactly_what_was(
        self, world: AssignmentWorld, step: AssignmentStep
    ) -> None:
        _give(world, ["kim"], _ids("Q0", "Q1"))
        _give(world, ["花子"], _ids("Q1", "Q2"))
        before = _given(world)
        done = _make(world, step)
        assert _given(world) != before
        undone = undo_assignment(world.database, OPERATOR, "d", done.undo, now=world.now)
        assert undone.changed == done.changed
        assert _given(world) == before

    def test_what_was_changed_since_cannot_be_undone(self, world: AssignmentWorld) -> None:
        done = _make(world, _step("assign", ("kim",), "Q0", "Q1"))
        take_back(world.database, OPERATOR, "d", ["kim"], _ids("Q1"), now=NOW)
        given = _given(world)
        with pytest.raises(ConflictError, match="can no longer be undone"):
            undo_assignment(world.database, OPERATOR, "d", done.undo, now=NOW)
        assert _given(world) == given
        done = _make(world, _step("unassign", ("kim",), "Q0"))
        _limit(world, "kim", categories=["判例"])
        with pytest.raises(StateError, match="kim does not judge the category"):
            undo_assignment(world.database, OPERATOR, "d", done.undo, now=NOW)

    def test_a_preview_is_refused_for_what_the_step_is_refused_for(self, world: AssignmentWorld) -> None:
        _limit(world, "kim", languages=["ko"])
        for step, problem in (
            (_step("assign", ("kim",), "Q0"), "kim does not judge"),
            (_step("assign", (), "Q0"), "Choose at least one person"),
            (_step("assign", ("花子",), "Q9"), "no query with the id Q9"),
            (_step("reassign", ("kim",), to="kim"), "kim is named twice"),
        ):
            with pytest.raises(AnnotatorError, match=problem):
                _preview(world, step)


class TestFindingQueries:
    def _find(self, world: AssignmentWorld, **wanted: str) -> list[str]:
        chosen = QueryFilter(**wanted)
        page = list_queries_to_assign(world.database, OPERATOR, "d", chosen, limit=9)
        ids = [query.query_id for query in page.queries]
        assert list_matching_queries(world.database, OPERATOR, "d", chosen) == ids
        assert (page.total, page.pairs) == (len(ids), sum(query.open_pairs for query in page.queries))
        return ids

    def test_by_id_text_category_language_and_person(self, world: AssignmentWorld) -> None:
        with world.database.write() as session:
            row = session.scalars(select(QueryRow).where(col(QueryRow.query_id) == "Q2")).one()
            row.text = "토지_거래 100% 検索"
        _give(world, ["kim", "花子"], _ids("Q1"))
        assert self._find(world) == ["Q0", "Q1", "Q2", "Q3"]
        assert self._find(world, search=" q3 ") == ["Q3"]
        assert self._find(world, search="지_거") == ["Q2"]
        assert self._find(world, search="0%") == ["Q2"]
        assert self._find(world, search="\0") == ["Q0", "Q1", "Q2", "Q3"]
        assert self._find(world, category="判例", language="ja") == ["Q2"]
        assert self._find(world, assigned_to="kim") == ["Q1"]
        assert self._find(world, assigned_to=NOBODY) == ["Q0", "Q2", "Q3"]
        assert self._find(world, assigned_to="nobody") == []

    def test_a_page_says_what_can_be_chosen(self, world: AssignmentWorld) -> None:
        _give(world, ["kim", "花子"], _ids("Q1"))
        disable_person(world.database, OPERATOR, "花子", now=NOW)
        page = list_queries_to_assign(world.database, OPERATOR, "d", QueryFilter(), limit=1, offset=1)
        assert (page.total, page.categories, page.languages) == (4, ("howto", "判例"), ("ja", "ko"))
        assert page.people == ("kim", "lee")
        (query,) = page.queries
        assert (query.query_id, query.open_pairs, query.assigned_to) == ("Q1", 3, ("kim", "花子"))
