"""The settings from the environment."""

from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from annotator.domain.addresses import is_loopback
from annotator.domain.errors import ValidationError
from annotator.settings import Settings


def test_every_setting_is_read_from_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "DATABASE_URL": "sqlite:///x.db",
        "EXPORTS_DIR": "out",
        "FETCHED_RUNS_DIR": "runs",
        "SEARCH_HOSTS": "localhost:9200",
        "ADDRESS": "https://a.example/",
        "SESSION_HOURS": " 3 ",
        "SECURE_COOKIE": "True",
        "LOG_FORMAT": "json",
        "LOG_LEVEL": "debug",
        "IMPORT_MEMORY_MB": "900",
        "IMPORT_MINUTES": "5",
        "IMPORT_PROCESSES": "1",
    }.items():
        monkeypatch.setenv(f"ANNOTATOR_{name}", value)
    assert Settings() == Settings(
        database_url="sqlite:///x.db",
        exports_dir=Path("out"),
        fetched_runs_dir=Path("runs"),
        search_hosts="localhost:9200",
        address="https://a.example",
        session_hours=3,
        secure_cookie=True,
        log_format="json",
        log_level="debug",
        import_memory_mb=900,
        import_minutes=5,
        import_processes=1,
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


@pytest.mark.parametrize(
    "value",
    ["a.example", "ftp://a.example", "https://", "https://u@a.example", "http://a.example:x", "http://a/?b"],
)
def test_an_address_that_no_link_can_begin_with_is_refused(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("ANNOTATOR_ADDRESS", value)
    with pytest.raises(ValidationError, match=r"^ANNOTATOR_ADDRESS: Expected an address"):
        Settings()


def test_addresses_of_this_machine_are_known() -> None:
    hosts = (
        "localhost",
        "127.0.0.1",
        "127.3.4.5",
        "::1",
        "192.168.0.7",
        "a.example",
        "localhost.example",
        "",
    )
    assert [is_loopback(host) for host in hosts] == [True] * 4 + [False] * 4


@pytest.mark.parametrize(
    ("name", "value"), [("IMPORT_MEMORY_MB", "100"), ("IMPORT_MINUTES", "0"), ("IMPORT_PROCESSES", "65")]
)
def test_a_limit_that_is_too_low_or_too_high_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"ANNOTATOR_{name}", value)
    with pytest.raises(ValidationError, match=f"ANNOTATOR_{name}: Expected a whole number .* found {value}"):
        Settings()


def test_a_password_in_the_database_url_is_not_shown() -> None:
    assert "kDs83x" not in repr(Settings(database_url="postgresql://a:kDs83x@host/name"))


def test_the_database_s_password_comes_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("p@ss/w:rd 電池%\n", encoding="utf-8")
    monkeypatch.setenv(
        "ANNOTATOR_DATABASE_URL", "postgresql+psycopg://annotator@host:5433/name?sslmode=require"
    )
    monkeypatch.setenv("ANNOTATOR_DATABASE_PASSWORD_FILE", str(file))
    url = make_url(Settings().database_url)
    assert (url.username, url.password, url.host, url.port) == ("annotator", "p@ss/w:rd 電池%", "host", 5433)
    assert (url.database, dict(url.query)) == ("name", {"sslmode": "require"})


@pytest.mark.parametrize(
    ("url", "content", "why"),
    [
        ("postgresql://annotator@host/name", None, "cannot be read: No such file"),
        ("postgresql://annotator@host/name", b"\xff", "cannot be read: it is not UTF-8"),
        ("postgresql://annotator@host/name", b"\n", "is empty"),
        ("postgresql://annotator:other@host/name", b"secret", "with a user and without a password"),
        ("postgresql://host/name", b"secret", "with a user and without a password"),
        ("sqlite:///annotator.db", b"secret", "with a user and without a password"),
    ],
)
def test_a_password_file_that_cannot_be_used_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str, content: bytes | None, why: str
) -> None:
    file = tmp_path / "password"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("ANNOTATOR_DATABASE_URL", url)
    monkeypatch.setenv("ANNOTATOR_DATABASE_PASSWORD_FILE", str(file))
    with pytest.raises(ValidationError, match=why) as refused:
        Settings()
    assert "secret" not in str(refused.value)
