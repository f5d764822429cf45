"""Work in the background: one at a time for each key, stopped where it reports, and kept for the person who began it."""

from threading import Event

import pytest

from annotator.domain.errors import StateError, ValidationError
from annotator.domain.people import Actor
from annotator.web.kit.background_work import ReportStep, WorkBoard
from tests.integration.judged_world import NOW

LEA, ADA = Actor(1, "lea"), Actor(2, "ada")


def test_the_same_work_is_never_under_way_twice_and_other_keys_go_on() -> None:
    board, go = WorkBoard(), Event()
    first = board.start("d", LEA, "pool", lambda report: go.wait() and 7, now=NOW)
    with pytest.raises(StateError, match="lea is already working on this"):
        board.start("d", ADA, "pool", lambda report: 8, now=NOW)
    other = board.start("e", ADA, "pool", lambda report: 8, now=NOW)
    assert other.ended.wait(120) and board.find_ended("e", ADA) is other
    assert board.find_running("d") is first and board.find_ended("d", LEA) is None
    go.set()
    assert first.ended.wait(120)
    kept = board.find_ended("d", LEA)
    assert kept is first and kept.result == 7 and board.find_running("d") is None
    assert board.find_ended("d", ADA) is None, "what one person did is not shown to another"


def test_work_that_is_stopped_ends_where_it_reports() -> None:
    board, begun, go = WorkBoard(), Event(), Event()
    steps: list[str] = []

    def act(report: ReportStep) -> None:
        report("reading", 0.5)
        begun.set()
        go.wait()
        report("ranking", 0.0)
        steps.append("stored")

    work = board.start("d", LEA, "pool", act, now=NOW)
    assert begun.wait(120) and (work.step, work.share) == ("reading", 0.5)
    board.stop("d")
    go.set()
    assert work.ended.wait(120) and work.stopped and not steps and work.failure is None


def test_a_refusal_is_kept_and_an_unexpected_error_says_nothing_of_itself() -> None:
    board = WorkBoard()

    def refuse(report: ReportStep) -> None:
        raise ValidationError("depth: expected 1")

    def fail(report: ReportStep) -> None:
        raise RuntimeError("a password")

    assert board.start("d", LEA, "pool", refuse, now=NOW).ended.wait(120)
    refused = board.find_ended("d", LEA)
    assert refused is not None and str(refused.failure) == "depth: expected 1"
    assert board.start("d", LEA, "pool", fail, now=NOW).ended.wait(120)
    failed = board.find_ended("d", LEA)
    assert failed is not None and str(failed.failure) == "Something went wrong. See the server's log."
