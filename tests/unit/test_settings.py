"""The settings from the environment."""

from pathlib import Path

import pytest

from annotator.domain.errors import ValidationError
from annotator.settings import Settings


def test_every_setting_is_read_from_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "DATABASE_URL": "sqlite:///x.db",
        "EXPORTS_DIR": "out",
        "FETCHED_RUNS_DIR": "runs",
        "SEARCH_HOSTS": "localhost:9200",
        "SESSION_HOURS": " 3 ",
        "SECURE_COOKIE": "True",
        "LOG_FORMAT": "json",
        "LOG_LEVEL": "debug",
    }.items():
        monkeypatch.setenv(f"ANNOTATOR_{name}", value)
    assert Settings() == Settings(
        database_url="sqlite:///x.db",
        exports_dir=Path("out"),
        fetched_runs_dir=Path("runs"),
        search_hosts="localhost:9200",
        session_hours=3,
        secure_cookie=True,
        log_format="json",
        log_level="debug",
    )


def test_without_variables_the_defaults_hold() -> None:
    settings = Settings()
    assert (settings.database_url, settings.session_hours, settings.secure_cookie) == (
        "sqlite:///annotator.db",
        12,
        False,
    )


@pytest.mark.parametrize(
    ("name", "value"), [("SESSION_HOURS", "12h"), ("SESSION_HOURS", ""), ("SECURE_COOKIE", "maybe")]
)
def test_a_value_that_cannot_be_read_is_refused_with_its_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"ANNOTATOR_{name}", value)
    with pytest.raises(ValidationError, match=f"ANNOTATOR_{name}: expected .* found '{value}'"):
        Settings()


def test_a_password_in_the_database_url_is_not_shown() -> None:
    assert "secret" not in repr(Settings(database_url="postgresql://a:secret@host/name"))
