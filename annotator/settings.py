"""Settings from the environment (`ANNOTATOR_…`), each of which a command-line option can override."""

from pathlib import Path

from pydantic import SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """The settings from the environment. The database URL may hold a password: it is a secret."""

    model_config = SettingsConfigDict(env_prefix="ANNOTATOR_", extra="ignore")

    database_url: SecretStr = SecretStr("sqlite:///annotator.db")
    exports_dir: Path = Path("exports")
    fetched_runs_dir: Path = Path("fetched-runs")
    search_hosts: str = ""
    session_hours: int = 12
    secure_cookie: bool = False
    log_format: str = "console"
    log_level: str = "info"
