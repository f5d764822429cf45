"""Say in which language somebody sees the guideline, and what is missing in theirs."""

from annotator.domain.grades import RubricReading
from annotator.domain.messages import LANGUAGE_NAMES
from annotator.web.kit.messages import tr


def describe_missing(reading: RubricReading, own: str) -> str:
    """Return what the reader sees in the guideline's own language instead of theirs; "" if nothing is missing."""
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
    """Return that the reader sees the guideline in this language since; "" for None."""
    return (
        tr("You now see the guideline in {language}.", language=LANGUAGE_NAMES[language]) if language else ""
    )
