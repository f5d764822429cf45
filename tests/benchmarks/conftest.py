"""The PostgreSQL of tests/integration, for the benchmarks that measure one."""

from tests.integration.conftest import postgres_url

__all__ = ["postgres_url"]
