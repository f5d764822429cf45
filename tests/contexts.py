"""A page's context that has only what a test gives it."""

from types import SimpleNamespace
from typing import Any

from annotator.web.page_context import PageContext


class GivenContext(SimpleNamespace):
    """For functions that look at these parts of a `PageContext` only."""

    call: Any = PageContext.call
