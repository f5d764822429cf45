"""Show the categories and languages of queries that a person judges, as a sentence and as a form."""

from collections.abc import Sequence

import streamlit as st

from annotator.web.kit.messages import tr

Names = Sequence[str] | None


def ask_expertise(
    choices: tuple[Sequence[str], Sequence[str]], held: tuple[Names, Names]
) -> dict[str, list[str] | None] | None:
    """Draw the form. Returns {"categories", "languages"} after its button is pressed, else None.

    `choices`: categories and languages of the queries; `held`: those of the person (None: all).
    """
    with st.form("expertise"):
        chosen = [
            st.multiselect(label, _with_old(names, old), old, placeholder=tr("all"))
            for label, names, old in zip((tr("Categories"), tr("Languages")), choices, held, strict=True)
        ]
        if not st.form_submit_button(tr("Set what they judge")):
            return None
    return {kind: names or None for kind, names in zip(("categories", "languages"), chosen, strict=True)}


def describe_expertise(categories: Names, languages: Names) -> str:
    """Describe the queries that the person judges; "" for all."""
    limits = "; ".join(", ".join(names) for names in (categories, languages) if names)
    return tr("judges {what}", what=limits) if limits else ""


def _with_old(present: Sequence[str], held: Names) -> list[str]:
    """Return the options: all values of queries, then the person's values that no query has any more."""
    return list(dict.fromkeys((*present, *(held or ()))))
