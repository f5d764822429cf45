"""Write an evaluation as Markdown, in the form in which a team reports it.

`templates/report.md.jinja` orders the sections. The same evaluation, time and language give the same text.
Every text is escaped for Markdown where it is printed.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from annotator.evaluation.dataset_analysis.robustness import Robustness
from annotator.evaluation.evaluate import Evaluation, choose_power
from annotator.evaluation.reports.report_values import Translate, make_environment, render_report
from annotator.evaluation.targets import TargetCheck
from annotator.formats.syntax.markdown import escape_markdown

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from annotator.pooling.rounds.pool_records import SystemOrder

MOST_COMPARED = 30
MOST_POWER = 5
# nDCG@10 cannot be read as a person's name or address.
_CUTOFF = re.compile(r"(?<=[\w)])\\@(?=[0-9]+(?![\w]|\.\w))", re.ASCII)


def render_markdown(
    evaluation: Evaluation,
    *,
    tr: Translate,
    made_at: datetime,
    program: str,
    robustness: Robustness | None = None,
    checks: Sequence[TargetCheck] = (),
    expected_order: "SystemOrder | None" = None,
) -> str:
    """Return the report.

    `program`: name and version. `checks`: the targets that were checked; without any, the profile's targets
    are shown.
    """
    truth = evaluation.table.truth
    text = render_report(
        "report.md.jinja",
        _make_environment(),
        evaluation,
        tr=tr,
        made_at=made_at,
        program=program,
        robustness=robustness,
        checks=checks,
        most_compared=MOST_COMPARED,
        expected_order=expected_order,
        title=" ".join(filter(None, (Path(truth.name).name, truth.version))),
        power=choose_power(evaluation.dataset.power)[:MOST_POWER],
    )
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


@cache
def _make_environment() -> "Environment":
    from markupsafe import Markup

    return make_environment("parts.md.jinja", finalize=_escape, mark_figure=Markup)


def _escape(value: object) -> "Markup":
    from markupsafe import Markup

    if isinstance(value, Markup):
        return value
    if value is None or isinstance(value, float):
        raise TypeError(f"expected a text, found {value!r}")
    return Markup(_CUTOFF.sub("@", escape_markdown(str(value))))
