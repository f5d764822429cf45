"""What somebody judges: the categories and languages of their queries, in words and as the form that changes them."""

from collections.abc import Sequence

import streamlit as st

from annotator.web.kit.messages import tr

Names = Sequence[str] | None


def ask_expertise(
    known: tuple[Sequence[str], Sequence[str]], held: tuple[Names, Names]
) -> dict[str, list[str] | None] | None:
    """The form; what was chosen once its button is pressed. `known`, `held`: categories and languages, those that
    queries have and those of the person (None: all)."""
    with st.form("expertise"):
        chosen = [
            st.multiselect(label, _with_old(names, old), old, placeholder=tr("all"))
            for label, names, old in zip((tr("Categories"), tr("Languages")), known, held, strict=True)
        ]
        if not st.form_submit_button(tr("Set what they judge")):
            return None
    return {kind: names or None for kind, names in zip(("categories", "languages"), chosen, strict=True)}


def say_expertise(categories: Names, languages: Names) -> str:
    """In words; empty where the person judges everything."""
    limits = "; ".join(", ".join(names) for names in (categories, languages) if names)
    return tr("judges {what}", what=limits) if limits else ""


def _with_old(known: Sequence[str], held: Names) -> list[str]:
    """What can be chosen: what queries have, and what the person has though no query has it any more."""
    return list(dict.fromkeys((*known, *(held or ()))))
