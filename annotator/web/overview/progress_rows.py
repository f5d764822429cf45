"""Progress as the rows of tables: by annotator and by query."""

from collections.abc import Sequence

from annotator.domain.judgments import AnnotatorProgress, QueryProgress
from annotator.web.kit.charts import name_person, split_query
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import tr
from annotator.web.kit.words import name_word

Row = dict[str, object]


def list_annotator_rows(people: Sequence[AnnotatorProgress]) -> list[Row]:
    """A row for each annotator."""
    return [
        {
            tr("annotator"): name_person(one), tr("name"): one.name, tr("judged"): one.judged,
            tr("unrateable"): one.unrateable, tr("later"): one.later,
            tr("last"): show_time(one.last_judged_at) if one.last_judged_at else tr("never"),
        }
        for one in people
    ]  # fmt: skip


def list_query_rows(queries: Sequence[QueryProgress]) -> list[Row]:
    """A row for each query, with its pairs by how far they are."""
    return [
        {
            tr("query"): one.query_id, tr("text"): one.text, tr("category"): one.category,
            **{name_word(state): pairs for state, pairs in split_query(one).items()},
        }
        for one in queries
    ]  # fmt: skip
