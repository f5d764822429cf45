"""Structured logs on stderr: readable lines, or one JSON object a line. Stands at the edges (web and command line).

What never reaches a log: a password, a token, a query string, and at level info who gave which grade.
Values under names that sound like a secret are struck out all the same.
"""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

from annotator.domain.errors import ValidationError

SECRETS = ("password", "token", "cookie", "secret", "authorization")
LEVELS = ("debug", "info", "warning", "error")


def set_up_logs(log_format: str, level: str) -> None:
    """Send everything, also what uvicorn and Streamlit log, to stderr as "console" lines or as "json"."""
    if log_format not in ("console", "json"):
        raise ValidationError(f"ANNOTATOR_LOG_FORMAT: expected console or json, found {log_format!r}")
    if level.lower() not in LEVELS:
        raise ValidationError(f"ANNOTATOR_LOG_LEVEL: expected {', '.join(LEVELS)}, found {level!r}")
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        strike_out_secrets,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=_render(log_format))
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    take_over_loggers()


def take_over_loggers() -> None:
    """Let uvicorn and Streamlit log through ours; call again after they have set up their own."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("uvicorn", "streamlit"):
            logger = logging.getLogger(name)
            logger.handlers.clear()
            logger.propagate = True
    for name in (
        "streamlit.error_util",
        "uvicorn.access",
    ):  # pages' errors and requests are logged by us, once,
        logging.getLogger(name).disabled = True  # and without the query string
    for name in (
        "sqlalchemy",
        "alembic",
        "asyncio",
        "watchdog",
        "multipart",
        "python_multipart",
        "authlib",
        "urllib3",
        "httpx2",  # it logs addresses with their queries
    ):
        logging.getLogger(name).setLevel(logging.WARNING)


def strike_out_secrets(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Replace the value of every field that is named like a secret."""
    for key in event:
        if any(secret in key.lower() for secret in SECRETS):
            event[key] = "***"
    return event


def _render(log_format: str) -> list[Any]:
    clean = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    if log_format == "json":
        return [
            clean,
            structlog.processors.format_exc_info,
            structlog.processors.EventRenamer("message"),
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ]
    plain = structlog.dev.plain_traceback
    return [clean, structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]
