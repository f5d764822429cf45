"""Every refusal of a service has its HTTP status in one table."""

import inspect

from annotator.domain import errors
from annotator.domain.errors import AnnotatorError, DatabaseUnavailable
from annotator.web.server.refusals import STATUSES


def test_every_error_of_the_tree_has_a_status_but_an_outage_which_the_gate_answers() -> None:
    tree = {
        kind
        for _name, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, AnnotatorError) and AnnotatorError in kind.__bases__
    }
    assert tree - set(STATUSES) == {DatabaseUnavailable}
    assert set(STATUSES) - tree == {errors.DatasetArchived}  # 423, so that the panel keeps its judgments
