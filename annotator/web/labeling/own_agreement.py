"""An annotator's own agreement with all others together: nobody is named, and no single pair is told of."""

from collections.abc import Sequence

import streamlit as st

from annotator.agreement.behind import FEW_OWN, OwnAgreement
from annotator.web.kit.charts import show_value
from annotator.web.kit.heat_map import name_grades
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_table
from annotator.web.kit.web_figures import show_difference, show_share


def draw_own_agreement(found: OwnAgreement, grade_names: Sequence[str]) -> None:
    """The figures in words and the own grades against the others'; of too few pairs only that they are too few."""
    draw_note(tr(
        "You and all others together, over pairs that need no more judgments. Where you differ, nobody is right by that: "
        "it is a reason to talk about the guideline."
    ))  # fmt: skip
    if found.kappa is None:
        st.text(tr_n(
            "You share {n:,} such pair with others; from {least} pairs on there is something to tell.",
            "You share {n:,} such pairs with others; from {least} pairs on there is something to tell.",
            found.pairs, least=FEW_OWN,
        ))  # fmt: skip
        return
    st.text(tr_n(
        "Over {n:,} pair your grade is another's {share} of the time; Cohen's κ with them is {kappa}.",
        "Over {n:,} pairs your grade is another's {share} of the time; Cohen's κ with them is {kappa}.",
        found.pairs, share=show_share(found.observed_agreement), kappa=show_value(found.kappa),
    ))  # fmt: skip
    if found.leaning is not None:
        st.text(_say_leaning(found))
    rows = [
        [name, *(["–"] * len(grade_names) if counts is None else [f"{count:,}" for count in counts])]
        for name, counts in zip(name_grades(grade_names), found.confusion, strict=True)
    ]
    with st.expander(tr("Your grades and the others'")):
        caption = tr("Your grades in the rows, those of the others in the columns")
        draw_note(caption + ". " + tr("A row of fewer than five comparisons is left out."))
        draw_table(caption, [tr("your grade"), *name_grades(grade_names)], rows)


def _say_leaning(found: OwnAgreement) -> str:
    leaning = found.leaning
    if leaning is None:
        return ""
    interval = ""
    if leaning.ci95 is not None:
        low, high = (show_difference(end, signed=True) for end in leaning.ci95)
        interval = f" [{low}, {high}]"
    mean = show_difference(leaning.mean, signed=True) + interval
    return tr("On average your grade lies {mean} from theirs (+ is higher).", mean=mean)
