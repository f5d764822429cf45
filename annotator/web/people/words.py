"""Describe people: what a role may do, what a change of role causes, their pace, and which queries they judge."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import streamlit as st

from annotator.domain.figures import show_number
from annotator.domain.judgments import AnnotatorProgress
from annotator.domain.messages import Message, say, say_n
from annotator.domain.people import includes
from annotator.labeling.service import show_activity
from annotator.overview.records import PACE_DAYS
from annotator.overview.waiting_service import list_idle
from annotator.web.kit.figures import show_day
from annotator.web.kit.messages import tr, tr_n
from annotator.web.page_context import PageContext

NO_ROLE = "no role"
ROLE_EFFECTS = {
    "annotator": say("Judges pairs, without seeing the judgments of others."),
    "lead": say(
        "Imports, pools, assigns work, settles disagreements, publishes. Sees everybody's judgments."
    ),
    "admin": say("Does what a lead does, and manages people, roles and settings."),
}


def list_consequences(held: str, chosen: str, *, invitations: int) -> list[Message]:
    """Return the consequences of changing the role `held` to `chosen`; either may be NO_ROLE.

    `invitations`: number of open invitations by this person that might become invalid.
    """
    if chosen == held:
        return []
    led, leads = _leads(held), _leads(chosen)
    consequences = [ROLE_EFFECTS[chosen]] if chosen in ROLE_EFFECTS else []
    if chosen == NO_ROLE:
        consequences.append(
            say("They lose access. Their judgments stay; their pairs in progress go to others.")
        )
    if leads and not led:
        consequences.append(say("They can no longer judge a pair once they have seen its judgments."))
    if led and not leads:
        consequences.append(
            say("They no longer see other people's judgments or settle disagreements. Their decisions stay.")
        )
    if invitations and (chosen == NO_ROLE or (held in ROLE_EFFECTS and not includes(chosen, held))):
        consequences.append(
            say_n(
                "{n:,} open invitation made by them stops working if the new role does not allow it.",
                "{n:,} open invitations made by them stop working if the new role does not allow them.",
                invitations,
            )
        )
    return consequences


def _leads(role: str) -> bool:
    return role in ROLE_EFFECTS and includes(role, "lead")


def describe_activity(context: PageContext) -> dict[str, str]:
    """Return {username: sentence} for the annotators of the chosen dataset; {} without a dataset."""
    if context.dataset is None:
        return {}
    since = context.now - timedelta(days=PACE_DAYS)
    activity = context.call(show_activity, context.dataset, since=since)
    idle = (
        {person.annotator for person in list_idle(activity.people, now=context.now)}
        if activity.has_work
        else set()
    )
    return {
        person.annotator: describe_pace(
            person,
            activity.recent.get(person.annotator, 0),
            is_idle=person.annotator in idle,
            now=context.now,
        )
        for person in activity.people
    }


def describe_pace(person: AnnotatorProgress, recent: int, *, is_idle: bool, now: datetime) -> str:
    """Return one annotator's recent pace, or since when they are idle; "" without either."""
    if recent:
        return tr_n(
            "{n:,} judgment in the last {days} days, {pace} a day",
            "{n:,} judgments in the last {days} days, {pace} a day",
            recent,
            days=PACE_DAYS,
            pace=show_number(recent / PACE_DAYS, 1),
        )
    if person.last_judged_at is None:
        return tr("idle: nothing judged yet") if is_idle else ""
    day = show_day(person.last_judged_at, now=now)
    return tr("idle since {day}", day=day) if is_idle else tr("judged last on {day}", day=day)


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
