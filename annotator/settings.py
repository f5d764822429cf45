"""Settings from the environment (`ANNOTATOR_…`), each of which a command-line option can override.

Read without pydantic-settings, which takes as long to import as a whole command may run (docs/decisions.md).
"""

import os
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import cast, get_args
from urllib.parse import quote

from annotator.domain.addresses import check_address
from annotator.domain.errors import ValidationError
from annotator.domain.people import LocalAccounts, SecondFactor, SignInTerms

PREFIX = "ANNOTATOR_"
YES, NO = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


def read_number(name: str, default: int) -> int:
    """Return a whole number from the environment. ValidationError if it is something else."""
    value = os.environ.get(PREFIX + name, str(default)).strip()
    if not (value.isascii() and value.removeprefix("-").isdigit()):
        raise ValidationError(f"{PREFIX}{name}: expected a whole number, found {value!r:.80}")
    return int(value)


def read_limit(name: str, default: int, least: int, most: int) -> int:
    """Return a whole number from `least` to `most` from the environment. ValidationError if it is something else."""
    number = read_number(name, default)
    if not least <= number <= most:
        raise ValidationError(
            f"{PREFIX}{name}: Expected a whole number from {least:,} to {most:,}, found {number:,}."
        )
    return number


def read_switch(name: str) -> bool:
    """Return whether a switch is on in the environment. ValidationError if it is neither on nor off."""
    value = os.environ.get(PREFIX + name, NO[0]).strip().lower()
    if value not in YES + NO:
        raise ValidationError(f"{PREFIX}{name}: expected true or false, found {value!r:.80}")
    return value in YES


def read_text(name: str, default: str) -> str:
    """Return a text from the environment."""
    return os.environ.get(PREFIX + name, default)


def read_database_url() -> str:
    """Return the database's URL, with the password from the file that is named beside it, if one is.

    ValidationError if that file cannot be read, or the URL has no place for a password.
    """
    url, path = read_text("DATABASE_URL", "sqlite:///annotator.db"), read_text("DATABASE_PASSWORD_FILE", "")
    if not path:
        return url
    try:
        password = Path(path).read_text(encoding="utf-8").strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ValidationError(f"{PREFIX}DATABASE_PASSWORD_FILE: {path} cannot be read: {why}") from None
    if not password:
        raise ValidationError(f"{PREFIX}DATABASE_PASSWORD_FILE: {path} is empty")
    scheme, _, rest = url.partition("://")
    user, at, place = rest.partition("@")
    if not scheme.startswith("postgresql") or not (user and at) or set(user) & set(":/?"):
        raise ValidationError(
            f"{PREFIX}DATABASE_PASSWORD_FILE: expected {PREFIX}DATABASE_URL with a user and without a password, "
            "such as postgresql+psycopg://user@host/name"
        )
    return f"{scheme}://{user}:{quote(password, safe='')}@{place}"


def read_path(name: str) -> Path | None:
    """Return a path from the environment; None without one."""
    value = read_text(name, "")
    return Path(value) if value else None


def read_local_accounts() -> LocalAccounts:
    """Return who may sign in with a password. ValidationError if the environment says something else."""
    value = read_text("LOCAL_ACCOUNTS", "true").strip().lower()
    for known in get_args(LocalAccounts):
        if value == known:
            return cast(LocalAccounts, known)
    raise ValidationError(f"{PREFIX}LOCAL_ACCOUNTS: expected true, false or admins, found {value!r:.80}")


def read_second_factor() -> SecondFactor:
    """Return of whom a second factor is required. ValidationError if the environment says something else."""
    value = read_text("SECOND_FACTOR", "optional").strip().lower()
    for known in get_args(SecondFactor):
        if value == known:
            return cast(SecondFactor, known)
    raise ValidationError(f"{PREFIX}SECOND_FACTOR: expected optional, leads or all, found {value!r:.80}")


def read_address() -> str | None:
    """Return the address at which people reach the server; None if the environment names none."""
    value = read_text("ADDRESS", "").strip()
    return check_address(f"{PREFIX}ADDRESS", value) if value else None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings from the environment. The database URL may hold a password: it is never shown with the others."""

    database_url: str = field(default_factory=read_database_url, repr=False)
    database_password_file: Path | None = field(
        default_factory=lambda: (
            Path(read_text("DATABASE_PASSWORD_FILE", "")) if read_text("DATABASE_PASSWORD_FILE", "") else None
        )
    )
    exports_dir: Path = field(default_factory=lambda: Path(read_text("EXPORTS_DIR", "exports")))
    fetched_runs_dir: Path = field(
        default_factory=lambda: Path(read_text("FETCHED_RUNS_DIR", "fetched-runs"))
    )
    pg_bin: Path | None = field(default_factory=lambda: read_path("PG_BIN"))
    search_hosts: str = field(default_factory=lambda: read_text("SEARCH_HOSTS", ""))
    address: str | None = field(default_factory=read_address)
    session_hours: int = field(default_factory=lambda: read_number("SESSION_HOURS", 12))
    oidc_issuer: str = field(default_factory=lambda: read_text("OIDC_ISSUER", "").strip())
    oidc_client_id: str = field(default_factory=lambda: read_text("OIDC_CLIENT_ID", "").strip())
    oidc_client_secret: str = field(default_factory=lambda: read_text("OIDC_CLIENT_SECRET", ""), repr=False)
    oidc_client_secret_file: Path | None = field(default_factory=lambda: read_path("OIDC_CLIENT_SECRET_FILE"))
    oidc_name: str = field(default_factory=lambda: read_text("OIDC_NAME", "").strip())
    oidc_scopes: str = field(default_factory=lambda: read_text("OIDC_SCOPES", "openid profile"))
    oidc_username_claim: str = field(
        default_factory=lambda: read_text("OIDC_USERNAME_CLAIM", "preferred_username")
    )
    oidc_groups_claim: str = field(default_factory=lambda: read_text("OIDC_GROUPS_CLAIM", "groups"))
    oidc_roles_file: Path | None = field(default_factory=lambda: read_path("OIDC_ROLES_FILE"))
    oidc_back_channel_logout: bool = field(default_factory=lambda: read_switch("OIDC_BACK_CHANNEL_LOGOUT"))
    local_accounts: LocalAccounts = field(default_factory=read_local_accounts)
    second_factor: SecondFactor = field(default_factory=read_second_factor)
    second_factor_key_file: Path | None = field(default_factory=lambda: read_path("SECOND_FACTOR_KEY_FILE"))
    secure_cookie: bool = field(default_factory=lambda: read_switch("SECURE_COOKIE"))
    log_format: str = field(default_factory=lambda: read_text("LOG_FORMAT", "console"))
    log_level: str = field(default_factory=lambda: read_text("LOG_LEVEL", "info"))
    metrics_token_file: Path | None = field(default_factory=lambda: read_path("METRICS_TOKEN_FILE"))
    import_memory_mb: int = field(
        default_factory=lambda: read_limit("IMPORT_MEMORY_MB", 1_500, 500, 1_000_000)
    )
    import_minutes: int = field(default_factory=lambda: read_limit("IMPORT_MINUTES", 30, 1, 1_440))
    import_processes: int = field(default_factory=lambda: read_limit("IMPORT_PROCESSES", 2, 1, 64))
    slow_statement_ms: int = field(default_factory=lambda: read_number("SLOW_STATEMENT_MS", 1_000))

    @property
    def sign_in_terms(self) -> SignInTerms:
        return SignInTerms(timedelta(hours=self.session_hours), self.local_accounts, self.second_factor)
