"""Logs: JSON that machines read, lines that people read, no secrets in either."""

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from annotator.domain.errors import ValidationError
from annotator.log import set_up_logs, take_over_loggers


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


def test_json_is_one_object_a_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("json", "info")
    structlog.stdlib.get_logger("annotator.web").info("request", path="/ラベル 🌱", status=200)
    logging.getLogger("uvicorn.error").warning("from %s", "uvicorn")
    try:
        raise KeyError("x")
    except KeyError:
        structlog.stdlib.get_logger("annotator.web").exception("request failed")
    out, err = capsys.readouterr()
    assert out == ""
    lines = [json.loads(line) for line in err.splitlines()]
    assert [line["message"] for line in lines] == ["request", "from uvicorn", "request failed"]
    assert lines[0]["path"] == "/ラベル 🌱"
    assert lines[0]["level"] == "info"
    assert lines[0]["timestamp"].endswith("Z")
    assert "KeyError" in lines[2]["exception"]


def test_lines_for_people_name_what_happened(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("console", "warning")
    structlog.stdlib.get_logger("annotator.web").info("request", path="/label")
    structlog.stdlib.get_logger("annotator.web").warning("sign-in limited", retry_seconds=9)
    err = capsys.readouterr().err
    assert "sign-in limited" in err
    assert "retry_seconds=9" in err
    assert "/label" not in err


@pytest.mark.parametrize("log_format", ["console", "json"])
def test_what_is_named_like_a_secret_is_struck_out(
    log_format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up_logs(log_format, "debug")
    fields = {"password": "hunter2", "session_token": "hunter2", "Set-Cookie": "hunter2", "user": "kept"}
    structlog.stdlib.get_logger("annotator.web").info("x", **fields)
    err = capsys.readouterr().err
    assert "hunter2" not in err
    assert "kept" in err


def test_uvicorns_own_request_lines_stay_silent(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("console", "debug")
    logging.getLogger("uvicorn.access").disabled = False
    take_over_loggers()
    logging.getLogger("uvicorn.access").info("GET /label?dataset=secret")
    logging.getLogger("httpx2").info("HTTP Request: GET http://es.example.org/?q=secret")
    assert "secret" not in capsys.readouterr().err


@pytest.mark.parametrize(("log_format", "level"), [("xml", "info"), ("json", "loud")])
def test_an_unknown_format_or_level_is_refused(log_format: str, level: str) -> None:
    with pytest.raises(ValidationError, match="ANNOTATOR_LOG_"):
        set_up_logs(log_format, level)
