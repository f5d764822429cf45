"""The input of every tab of the page Pool."""

from dataclasses import dataclass

from annotator.pooling.analysis.pool_analysis_records import PoolContents
from annotator.web.page_context import PageContext


@dataclass(frozen=True, slots=True, eq=False)
class ShownPool:
    """The pool on the screen."""

    context: PageContext
    dataset: str
    contents: PoolContents
