"""Settings from the environment (`ANNOTATOR_…`), each of which a command-line option can override.

Read without pydantic-settings, which takes as long to import as a whole command may run (docs/decisions.md).
"""

import os
from dataclasses import dataclass, field
from pathlib import Path

from annotator.domain.errors import ValidationError

PREFIX = "ANNOTATOR_"
YES, NO = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


def read_number(name: str, default: int) -> int:
    """Return a whole number from the environment. ValidationError if it is something else."""
    value = os.environ.get(PREFIX + name, str(default)).strip()
    if not (value.isascii() and value.removeprefix("-").isdigit()):
        raise ValidationError(f"{PREFIX}{name}: expected a whole number, found {value!r:.80}")
    return int(value)


def read_switch(name: str) -> bool:
    """Return whether a switch is on in the environment. ValidationError if it is neither on nor off."""
    value = os.environ.get(PREFIX + name, NO[0]).strip().lower()
    if value not in YES + NO:
        raise ValidationError(f"{PREFIX}{name}: expected true or false, found {value!r:.80}")
    return value in YES


def read_text(name: str, default: str) -> str:
    """Return a text from the environment."""
    return os.environ.get(PREFIX + name, default)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings from the environment. The database URL may hold a password: it is never shown with the others."""

    database_url: str = field(
        default_factory=lambda: read_text("DATABASE_URL", "sqlite:///annotator.db"), repr=False
    )
    exports_dir: Path = field(default_factory=lambda: Path(read_text("EXPORTS_DIR", "exports")))
    fetched_runs_dir: Path = field(
        default_factory=lambda: Path(read_text("FETCHED_RUNS_DIR", "fetched-runs"))
    )
    pg_bin: Path | None = field(
        default_factory=lambda: Path(read_text("PG_BIN", "")) if read_text("PG_BIN", "") else None
    )
    search_hosts: str = field(default_factory=lambda: read_text("SEARCH_HOSTS", ""))
    session_hours: int = field(default_factory=lambda: read_number("SESSION_HOURS", 12))
    secure_cookie: bool = field(default_factory=lambda: read_switch("SECURE_COOKIE"))
    log_format: str = field(default_factory=lambda: read_text("LOG_FORMAT", "console"))
    log_level: str = field(default_factory=lambda: read_text("LOG_LEVEL", "info"))
    slow_statement_ms: int = field(default_factory=lambda: read_number("SLOW_STATEMENT_MS", 1_000))
