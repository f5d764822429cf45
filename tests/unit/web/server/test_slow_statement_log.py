"""Slow statements in the log: as many as help, and never more."""

from structlog.testing import capture_logs

from annotator.storage.slow_statements import SlowStatement
from annotator.web.server.serve import LINE_SECONDS, LINES, SlowStatementLog


def test_a_line_says_which_statement_took_how_long() -> None:
    with capture_logs() as logs:
        SlowStatementLog(lambda: 0.0).report(SlowStatement("SELECT 1", 1.2345, failed=False))
    assert logs == [
        {
            "event": "slow statement",
            "log_level": "warning",
            "statement": "SELECT 1",
            "ms": 1234,
            "failed": False,
        }
    ]


def test_when_every_statement_is_slow_most_are_counted_only() -> None:
    now = [0.0]
    slow = SlowStatementLog(lambda: now[0])
    with capture_logs() as logs:
        for _ in range(LINES + 7):
            slow.report(SlowStatement("SELECT 1", 2.0, failed=False))
        now[0] = LINE_SECONDS
        slow.report(SlowStatement("SELECT 2", 2.0, failed=False))
        slow.report(SlowStatement("SELECT 3", 2.0, failed=False))
    assert len(logs) == LINES + 2
    assert [entry.get("left_out") for entry in logs[-3:]] == [None, 7, None]
