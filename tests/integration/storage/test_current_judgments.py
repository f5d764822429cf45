"""What is current does not depend on the order in which the presses of one client arrive, on both databases."""

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert, select, text
from sqlmodel import col

from annotator.storage.database import Database
from annotator.storage.judgments.answers import mark_late
from annotator.storage.judgments.current_judgments import derive_current, list_current_judgments
from annotator.storage.lookup import find_rubric
from annotator.storage.tables.central import CurrentJudgmentRow, JudgmentRow, PairRow
from tests.integration.judged_world import JudgedWorld
from tests.short_run import draw_few

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
ANSWERS = st.sampled_from(
    [("graded", 0), ("graded", 1), ("graded", 2), ("graded", 3), ("unrateable", None), ("later", None)]
)
PRESSES = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 5), ANSWERS, st.booleans()),
    min_size=1,
    max_size=12,
)  # annotator, pair, minute, answer, whether delivered together with the one before


class Table:
    """Two annotators and, for each example, two pairs of its own."""

    def __init__(self, database: Database) -> None:
        self.world = JudgedWorld(database)
        self.people = [self.world.person("花子"), self.world.person("민준")]
        self.world.query("Q1", "検索")
        self.number = count()
        with database.read() as session:
            self.rubric_pk = find_rubric(session, self.world.dataset_pk).pk

    def pairs(self) -> list[int]:
        keys = [self.world.pair("Q1", f"문서/{next(self.number)}") for _ in range(2)]
        with self.world.database.read() as session:
            return [session.scalar(select(col(PairRow.pk)).where(col(PairRow.key) == key)) for key in keys]

    def deliver(self, pairs: list[int], presses: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Store the presses as they come, in batches, then read what is current."""
        batches: list[list[tuple[Any, ...]]] = []
        for press in presses:
            if press[4] and batches:
                batches[-1].append(press)
            else:
                batches.append([press])
        for batch in batches:
            with self.world.database.write() as session:
                rows = mark_late(session, [self.row(pairs, press) for press in batch])
                session.execute(insert(JudgmentRow), rows)
                derive_current(session, self.world.dataset_pk, {pairs[press[1]] for press in batch})
        return self.current(pairs)

    def row(self, pairs: list[int], press: tuple[Any, ...]) -> dict[str, Any]:
        annotator, pair, minute, (outcome, grade), _ = press
        at = NOON + timedelta(minutes=minute)
        return {
            "event_id": f"e{next(self.number)}", "pair_pk": pairs[pair], "rubric_pk": self.rubric_pk,
            "annotator_pk": self.people[annotator].person_id, "outcome": outcome, "grade": grade,
            "purpose": "independent", "judged_at": at, "received_at": NOON + timedelta(hours=1),
        }  # fmt: skip

    def current(self, pairs: list[int]) -> list[tuple[Any, ...]]:
        """(annotator, pair, outcome, grade, judged_at) of what is current, and each pair's count."""
        with self.world.database.read() as session:
            rows = session.execute(
                select(CurrentJudgmentRow, JudgmentRow)
                .join(JudgmentRow, col(JudgmentRow.pk) == CurrentJudgmentRow.judgment_pk)
                .where(col(CurrentJudgmentRow.pair_pk).in_(pairs))
            ).all()
            answers = [
                (row.annotator_pk, pairs.index(row.pair_pk), row.outcome, row.grade, judgment.judged_at)
                for row, judgment in rows
            ]
            for row, judgment in rows:
                assert (row.outcome, row.grade, row.purpose) == (
                    judgment.outcome,
                    judgment.grade,
                    judgment.purpose,
                )
            counted = [session.get_one(PairRow, pair).judged for pair in pairs]
        assert counted == [
            sum(item[1] == number and item[2] != "later" for item in answers) for number in range(len(pairs))
        ]
        return sorted(answers, key=repr)


def expected(table: Table, presses: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rule again: of each annotator on each pair, the press with the latest time; of equals, the last."""
    last: dict[tuple[int, int], tuple[Any, ...]] = {}
    for press in presses:
        slot = (press[0], press[1])
        if slot not in last or press[2] >= last[slot][2]:
            last[slot] = press
    return sorted(
        (
            (table.people[annotator].person_id, pair, *press[3], NOON + timedelta(minutes=press[2]))
            for (annotator, pair), press in last.items()
        ),
        key=repr,
    )


def test_out_of_order_deliveries_give_the_same_current_judgments_as_in_order(database: Database) -> None:
    table = Table(database)

    @draw_few()
    @given(presses=PRESSES, chance=st.randoms(use_true_random=False))
    def holds(presses: list[tuple[Any, ...]], chance: Any) -> None:
        distinct = list({press[:3]: press for press in presses}.values())
        shuffled = chance.sample(distinct, len(distinct))
        in_order = sorted(distinct, key=lambda press: press[2])
        assert table.deliver(table.pairs(), in_order) == table.deliver(table.pairs(), shuffled)

    holds()


def test_of_presses_at_the_same_instant_the_last_received_holds(database: Database) -> None:
    table = Table(database)

    @draw_few()
    @given(presses=PRESSES)
    def holds(presses: list[tuple[Any, ...]]) -> None:
        assert table.deliver(table.pairs(), presses) == expected(table, presses)

    holds()


def test_deriving_everything_anew_changes_nothing(database: Database) -> None:
    table = Table(database)
    pairs = table.pairs()
    presses = [
        (0, 0, 5, ("graded", 1), False),
        (0, 0, 2, ("graded", 3), False),
        (1, 1, 1, ("later", None), False),
    ]
    before = table.deliver(pairs, presses)
    with database.write() as session:
        session.connection().execute(text("DELETE FROM current_judgment"))
        session.connection().execute(text("UPDATE pair SET judged = 7"))
        derive_current(session, table.world.dataset_pk)
    assert table.current(pairs) == before
    with database.read() as session:
        (listed,) = list_current_judgments(session, table.world.dataset_pk)
        history = list_current_judgments(session, table.world.dataset_pk, history=True)
    assert (listed.annotator, listed.grade) == ("花子", 1)
    assert [(item.outcome, item.grade) for item in history] == [("graded", 3), ("graded", 1), ("later", None)]


def test_a_read_transaction_sees_one_moment(database: Database) -> None:
    table = Table(database)
    pairs = table.pairs()
    with database.read() as session:
        statement = select(col(JudgmentRow.pk))
        assert session.scalars(statement).all() == []
        table.deliver(pairs, [(0, 0, 1, ("graded", 1), False)])
        assert session.scalars(statement).all() == []
    with database.read() as session:
        assert len(session.scalars(statement).all()) == 1
