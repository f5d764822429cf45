"""Describe a reader's guideline language, missing translations and outdated translations."""

import streamlit as st

from annotator.domain.grades import Rubric, RubricReading
from annotator.domain.messages import LANGUAGE_NAMES, Message, join, say
from annotator.guideline.compare import list_outdated_translations
from annotator.web.kit.messages import tr


def describe_missing(reading: RubricReading, own: str) -> str:
    """Return a sentence about the texts that are missing in the reader's language, or ""."""
    if not reading.missing:
        return ""
    wanted, shown = (LANGUAGE_NAMES[tag] for tag in (reading.language, own))
    if reading.missing == "guideline":
        return tr(
            "The text of this guideline has no {wanted} version yet; you see the {shown} one.",
            wanted=wanted,
            shown=shown,
        )
    return tr(
        "This guideline has no {wanted} version yet; you see the {shown} one.", wanted=wanted, shown=shown
    )


def describe_translated(language: str | None) -> str:
    """Return a sentence about the reader's new guideline language; "" for None."""
    return (
        tr("You now see the guideline in {language}.", language=LANGUAGE_NAMES[language]) if language else ""
    )


def draw_outdated_translations(before: Rubric, after: Rubric) -> None:
    """Draw a warning for each translation that lacks changes of the authoritative texts."""
    for tag, fields in list_outdated_translations(before, after).items():
        names = tr(join([_name_field(field) for field in fields]))
        st.warning(
            tr(
                "You changed {fields}, and the {language} translation is as before. Change it too, or publish it as it is.",
                fields=names,
                language=LANGUAGE_NAMES[tag],
            ),
            icon=":material/translate:",
        )


def _name_field(field: str) -> Message:
    """Return the name of a field of `list_outdated_translations`."""
    if field in ("title", "guideline"):
        return say("the title") if field == "title" else say("the guideline")
    return say("grade {grade}", grade=field.removeprefix("grade "))
