"""Draw the page Releases: the next release with its form, and the published ones with their content.

For the next one: its gates, what it would change, and every refusal before publishing; after a refusal, what was typed
stays. For a published one: qrels, gates, datasheet, changes and files.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape

import streamlit as st

from annotator.dataset.service import change_settings, show_dataset
from annotator.dataset.settings import write_setting
from annotator.domain.errors import AnnotatorError, GateNotMet
from annotator.domain.messages import say
from annotator.domain.settling import SETTLED
from annotator.overview.service import show_overview
from annotator.releases.files_service import list_releases
from annotator.releases.gates_service import check_release
from annotator.releases.published_service import count_withheld, note_release
from annotator.releases.records import GATE_NAMES, Release, ReleaseCheck, ReleaseDiff, ReleaseGate
from annotator.releases.service import preview_release, publish_release
from annotator.web.blind_pairs import draw_blind_pairs, draw_give_up_button
from annotator.web.kit.components import draw_rows
from annotator.web.kit.controls import draw_url_tabs
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import join_names, join_sentences, show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_note, draw_problem, draw_steps, require_dataset
from annotator.web.kit.text import escape_markdown, show_as
from annotator.web.kit.words import name_word
from annotator.web.page_context import PageContext
from annotator.web.releases.compare import describe_advice, draw_comparison, draw_diff
from annotator.web.releases.files import draw_files, draw_published
from annotator.web.releases.gates import ask_why, draw_gates, draw_kept_gates
from annotator.web.releases.qrels import draw_qrels

MISSING_REASONS = "release reasons missing"
PARTS = (say("Qrels"), say("Gates"), say("Datasheet"), say("Changes"), say("Files"))
FOLDERS = {
    "whole": say("Files verified, unchanged"),
    "missing": say("The release's folder is missing on this server"),
    "changed": say("The release's files have changed since they were published"),
}
COLUMNS = (say("version"), say("published"), say("qrels"), say("by"), say("note"), say("remarks"))


def draw_releases(context: PageContext, dataset: str, listed: list[Release]) -> None:
    if not listed:
        st.text(tr("No releases yet. To see what the first release needs, open the tab Next release."))
        return
    newest = list(reversed(listed))
    release = _find_chosen(newest)
    rows = [(release.version, _describe(release)) for release in newest]
    draw_rows(
        f"releases {dataset}",
        tr("Releases. Choose one to open it."),
        [tr(name) for name in COLUMNS],
        rows,
        chosen=release.version,
        on_choose=_choose,
        leads_to=".annotator-release",
    )
    _draw_head(release)
    draw_url_tabs({name: partial(_draw_part, name, context, release, newest) for name in PARTS}, "part")


def _find_chosen(newest: list[Release]) -> Release:
    version = st.query_params.get("version")
    chosen = next((release for release in newest if release.version == version), None)
    if version is not None and chosen is None:
        st.warning(tr("This version does not exist. The latest one is shown."), icon=":material/search_off:")
    return chosen or newest[0]


def _choose(version: str) -> None:
    st.query_params["version"] = version
    st.session_state["page"] = 1


def _describe(release: Release) -> list[str]:
    gates = join_names(tr(GATE_NAMES.get(gate, gate)) for gate in release.overridden)
    marks = [tr("overridden: {gates}", gates=gates)] if gates else []
    marks += [tr("simulated judgments")] if release.simulated else []
    marks += [tr("folder {state}", state=name_word(release.folder))] if release.folder != "whole" else []
    note = release.note if len(release.note) < 120 else f"{release.note[:119]}…"
    return [
        release.version,
        show_time(release.created_at),
        f"{release.qrels:,}",
        release.published_by,
        note,
        "; ".join(marks),
    ]


def _draw_head(release: Release) -> None:
    summary = tr_n(
        "{n:,} qrel · published {time} by {lead} · {folder}",
        "{n:,} qrels · published {time} by {lead} · {folder}",
        release.qrels,
        time=show_time(release.created_at),
        lead=release.published_by,
        folder=FOLDERS[release.folder],
    )
    st.html(
        f'<div class="annotator-release" data-key="{escape(release.version)}">'
        f"<h2>{escape(f'{release.dataset} {release.version}')}</h2>"
        + (show_as("said", release.note) if release.note else "")
        + show_as("note", summary)
        + "</div>"
    )


def _draw_part(name: str, context: PageContext, release: Release, newest: list[Release]) -> None:
    if name == "Qrels":
        index = newest.index(release)
        earlier = [older.version for older in newest[index + 1 :]]
        draw_qrels(context, release.dataset, release.version, earlier)
        return
    withheld = context.call(count_withheld, release.dataset, release.version)
    if withheld:
        _draw_withheld(release, withheld)
    elif name == "Gates":
        draw_kept_gates(release.gates)
    elif name == "Datasheet":
        draw_published(context, release, "DATASHEET.md")
    elif name == "Changes":
        context.call(note_release, release.dataset, release.version, now=context.now)
        draw_published(context, release, "CHANGES.md")
    else:
        draw_files(release, None if release.folder == "whole" else FOLDERS[release.folder])


def _draw_withheld(release: Release, pairs: int) -> None:
    """Say why a part of the release is not shown, and draw the button that shows it."""
    words = tr_n(
        "This can tell the grade of {n:,} pair that you may still judge, so it is not shown.",
        "This can tell the grades of {n:,} pairs that you may still judge, so it is not shown.",
        pairs,
    )
    draw_note(words)
    draw_give_up_button(
        lambda context: context.call(note_release, release.dataset, release.version, now=context.now)
    )


def draw_form(
    context: PageContext, dataset: str, check: ReleaseCheck, *, advised: str, advice: str = ""
) -> None:
    """Draw the fields for version, note and reasons for unmet gates; publish when the button is pressed.

    `advised`: the version to offer; `advice`: why. The keys of fields and button belong to the suggested version: after
    publishing they are new ones, so that a second press of the old button publishes nothing.
    """
    draw_note(describe_content(check))
    if not holds_anything(check):
        return
    key_suffix = f"{dataset} {check.suggested}"
    version = st.text_input(
        tr("Version"),
        advised,
        key=f"version {key_suffix}",
        on_change="ignore",
        width=200,
        help=tr("Format: MAJOR.MINOR.PATCH. A published version never changes."),
    )
    if advice:
        draw_note(advice)
    note = st.text_area(
        tr("Note"),
        key=f"note {key_suffix}",
        on_change="ignore",
        height=80,
        help=tr("Purpose of this release. The note is published with it."),
    )
    missing: frozenset[str] = st.session_state.pop(MISSING_REASONS, frozenset())
    reasons = {
        gate.name: _ask_reason(gate, key_suffix, is_missing=gate.name in missing)
        for gate in check.gates
        if not gate.met
    }
    was_asked = f"asked {key_suffix}" in st.session_state
    about = _ask_about(context, dataset, key_suffix, was_asked=was_asked)
    if missing or (was_asked and not all(about.values())):
        st.error(tr("Not published yet: look at the fields marked above."), icon=":material/error:")
    # Under another key, so that the second press of a double click publishes nothing.
    if st.button(tr("Publish"), type="primary", key=f"publish {key_suffix}{' again' if was_asked else ''}"):
        given = {name: reason for name, reason in reasons.items() if reason.strip()}
        unsaid = not was_asked and not all(about.values())
        if unsaid:
            st.session_state[f"asked {key_suffix}"] = True
        if unsaid or len(given) < len(reasons):
            st.session_state[MISSING_REASONS] = frozenset(reasons) - frozenset(given)
            st.rerun()
        said = {name: text for name, text in about.items() if text}
        _publish(context, dataset, version or "", note or "", given, said)


def holds_anything(check: ReleaseCheck) -> bool:
    return any(check.statuses.get(status) for status in SETTLED)


def describe_content(check: ReleaseCheck) -> str:
    """Describe what a release made now would hold, and what it would leave out."""
    held = {status: check.statuses[status] for status in SETTLED if check.statuses.get(status)}
    absent = {status: pairs for status, pairs in check.statuses.items() if pairs and status not in SETTLED}
    if not held:
        return tr("There is nothing to publish: no pair is settled yet.")
    sentences = [
        tr_n(
            "The release will contain {n:,} pair ({content}).",
            "The release will contain {n:,} pairs ({content}).",
            sum(held.values()),
            content=_list_counts(held),
        )
    ]
    if absent:
        left_out = tr_n(
            "{n:,} pair is left out ({content}).",
            "{n:,} pairs are left out ({content}).",
            sum(absent.values()),
            content=_list_counts(absent),
        )
        sentences.append(left_out)
    return join_sentences(sentences)


def _list_counts(statuses: Mapping[str, int]) -> str:
    ordered = sorted(statuses.items(), key=lambda item: -item[1])
    return join_names(
        tr("{status} {pairs:,}", status=name_word(status), pairs=pairs) for status, pairs in ordered
    )


def choose_version(suggested: str, called_for: str | None, published: Sequence[str]) -> str:
    """Return the version to offer: the one called for, or the suggested one if that is taken."""
    return suggested if called_for is None or called_for in published else called_for


def _ask_reason(gate: ReleaseGate, key_suffix: str, *, is_missing: bool) -> str:
    reason = st.text_input(
        ask_why(gate),
        key=f"reason {key_suffix} {gate.name}",
        on_change="ignore",
        help=tr("Required to publish while this gate is not met. The reason is kept in the manifest."),
    )
    if is_missing:
        draw_problem(tr("Enter a reason, or finish the work of this gate first."))
    return reason or ""


def _ask_about(context: PageContext, dataset: str, key_suffix: str, *, was_asked: bool) -> dict[str, str]:
    """Draw a field for everything that the dataset does not say about itself. Returns {setting: text}."""
    own = next(item for item in context.datasets if item.name == dataset)
    labels = {
        name: label
        for name, label in {
            "authors": tr("Authors"), "contact": tr("Contact"), "licence": tr("Licence"),
        }.items()
        if not getattr(own, name)
    }  # fmt: skip
    about: dict[str, str] = {}
    if labels:
        draw_note(
            tr(
                "Readers of the release need to know who made it and how they may use it. Settings keeps this."
            )
        )
    for name, label in labels.items():
        about[name] = (st.text_input(label, key=f"{name} {key_suffix}", on_change="ignore") or "").strip()
        if was_asked and not about[name]:
            draw_problem(tr("Empty. Press Publish again to publish without it."))
    return about


def _publish(
    context: PageContext,
    dataset: str,
    version: str,
    note: str,
    overrides: dict[str, str],
    about: dict[str, str],
) -> None:
    """Store what was said about the dataset, then publish."""
    try:
        if about:
            unsaid = dict.fromkeys(about, write_setting("authors", None))
            context.call(change_settings, dataset, about, now=context.now, seen=unsaid)
        with st.spinner(tr("Publishing: writing and checking all files …"), show_time=True):
            made = context.call(
                publish_release,
                dataset,
                version.strip(),
                exports_dir=context.settings.exports_dir,
                now=context.now,
                note=note,
                overrides=overrides,
            )
            st.session_state["published"] = made.version
    except GateNotMet:
        sentence = tr(
            "Not published: a gate is not met. Finish its work, or say above why you publish without it."
        )
        st.error(sentence, icon=":material/block:")
    except AnnotatorError as error:
        why = escape_markdown(show_refusal(error))
        st.error(tr("Not published: {why}", why=why), icon=":material/block:")
    else:
        st.rerun()


def draw_next(context: PageContext, dataset: str, listed: list[Release]) -> None:
    check = context.call(check_release, dataset)
    st.header(tr("Gates"))
    if check.blind_pairs:
        draw_blind_pairs(dataset, check.blind_pairs)
        draw_note(tr("Publishing checks the gates on all pairs. Then you no longer judge these pairs."))
    draw_gates(context, check.gates)
    advised, advice = check.suggested, ""
    if listed and holds_anything(check):
        st.header(tr("Changes since the latest release"))
        diff = _preview(context, dataset)
        draw_diff(diff, advice=False)
        called_for = None if diff.advice == "none" else diff.next_version
        advised = choose_version(check.suggested, called_for, [release.version for release in listed])
        advice = describe_advice(diff)
    st.header(tr("Publish"))
    draw_form(context, dataset, check, advised=advised, advice=advice)


def _preview(context: PageContext, dataset: str) -> ReleaseDiff:
    with st.spinner(tr("Comparing with the latest release …")):
        return context.call(preview_release, dataset, now=context.now)


TABS = {
    say("Next release"): draw_next,
    say("Published"): draw_releases,
    say("Compare"): draw_comparison,
}


def draw(context: PageContext) -> None:
    st.title(tr("Releases"))
    dataset = require_dataset(context)
    exports_dir = context.settings.exports_dir
    listed = context.call(list_releases, dataset, exports_dir=exports_dir)
    if not listed and _is_empty(context, dataset):
        return
    published = st.session_state.pop("published", None)
    if published:
        st.session_state["tab"], st.query_params["version"] = tr("Published"), published
        st.success(tr("Version {version} published.", version=published), icon=":material/check:")
    draw_url_tabs(
        {name: partial(draw_tab, context, dataset, listed) for name, draw_tab in TABS.items()}, "tab"
    )


def _is_empty(context: PageContext, dataset: str) -> bool:
    _, counts = context.call(show_dataset, dataset)
    if not counts.pairs:
        draw_steps(context, context.call(show_overview, dataset).steps)
    return not counts.pairs
