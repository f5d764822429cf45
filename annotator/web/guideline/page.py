"""Draw the page Guideline: the current version, and every version with its changes.

Leads also write, merge and publish the next version here, and see which annotators must still confirm answers. Only texts
that the comparison has shown are published: after a later change, the comparison is shown again. If another lead published
in the meantime, nothing is stored: the draft becomes the merge of both changes, and the lead checks it again.
"""

from collections.abc import Sequence
from html import escape

import streamlit as st

from annotator.domain.errors import AnnotatorError, ValidationError
from annotator.domain.messages import say
from annotator.guideline.compare import propose_change
from annotator.guideline.feedback_service import list_decisions_behind
from annotator.guideline.merge import find_conflicts
from annotator.guideline.records import DecisionExample
from annotator.guideline.service import (
    GuidelineVersion,
    VersionConflict,
    compare_draft,
    count_judgments_made_outdated,
    count_outdated,
    list_versions,
    merge_draft,
    publish_version,
)
from annotator.guideline.validation import check_change
from annotator.web.guideline.draft import (
    CHOSEN,
    GuidelineDraft,
    bring_to_screen,
    draw_fields,
    draw_keeper,
    find_draft,
    note_typed,
    read_fields,
    read_typed,
    set_draft,
    to_fields,
    to_rubric,
)
from annotator.web.guideline.feedback import (
    ChosenExamples,
    DraftDesk,
    describe_judgments,
    draw_worklist,
    read_chosen,
)
from annotator.web.guideline.reading import (
    describe_version,
    draw_comparison,
    draw_outdated_translations,
    draw_rubric,
)
from annotator.web.kit.controls import apply_url_tab, keep_focus, note_press
from annotator.web.kit.messages import join_names, join_sentences, show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_note, draw_problem, require_dataset
from annotator.web.kit.tables import Cell, Link, draw_link_table, draw_table
from annotator.web.kit.text import escape_markdown, show_as
from annotator.web.navigation import make_url
from annotator.web.page_context import PageContext, find_context

SHOWN, DECISIONS = 30, 50


def draw_history(context: "PageContext", dataset: str, versions: "list[GuidelineVersion]") -> None:
    """Draw all versions, newest first, each with its changes and the decisions that led to it."""
    from annotator.guideline.service import compare_draft

    behind = context.call(list_decisions_behind, dataset, now=context.now)
    shown = versions[:SHOWN]
    if len(versions) > SHOWN and st.toggle(tr("Show all ({n:,})", n=len(versions)), key="all versions"):
        shown = versions
    for index, version in enumerate(shown):
        kind = tr("semantic") if version.change == "semantic" else tr("minor")
        name = describe_version(version) if version.version == 1 else f"{describe_version(version)} · {kind}"
        with st.expander(escape_markdown(name), expanded=index == 0):
            if version.why:
                st.html(show_as("narrative", version.why))
            if index + 1 < len(versions):
                draw_comparison(compare_draft(versions[index + 1].rubric, version.rubric))
                _draw_behind(dataset, behind.get(version.version, ()))
            else:
                draw_note(tr("The first version."))


def _draw_behind(dataset: str, decisions: Sequence[DecisionExample]) -> None:
    if not decisions:
        return
    label = tr_n("Based on {n:,} decision", "Based on {n:,} decisions", len(decisions))
    rows: list[Sequence[Cell]] = [
        [decision.query, _link(dataset, decision), describe_judgments(decision), decision.rationale]
        for decision in decisions[:DECISIONS]
    ]
    st.html(f'<p class="annotator-step">{escape(label)}</p>')
    draw_link_table(label, [tr("Query"), tr("Document"), tr("Grades"), tr("Rationale")], rows, roomy=True)
    if len(decisions) > DECISIONS:
        draw_note(tr_n("{n:,} more", "{n:,} more", len(decisions) - DECISIONS))


def _link(dataset: str, decision: DecisionExample) -> Link:
    return Link(
        decision.title or decision.doc_id,
        make_url("/disagreements", dataset=dataset, pair=decision.pair),
    )


def draw_outdated(context: "PageContext", dataset: str) -> None:
    """Draw the number of answers that each annotator must confirm or change."""
    counts = context.call(count_outdated, dataset)
    if not counts:
        draw_note(tr("All judgments use the current guideline and texts."))
        return
    st.header(tr("Judgments to confirm"))
    columns = (tr("Annotator"), tr("Judgments"), tr("Older guideline"), tr("Older text"))
    rows = [
        (
            item.name or item.annotator,
            *(f"{n:,}" for n in (item.answers, item.older_guideline, item.older_text)),
        )
        for item in counts
    ]
    draw_table(tr("Judgments to confirm"), columns, rows)


LEARN, WRITE, VERSIONS = (
    say("Lessons from disagreements"),
    say("Next version"),
    say("Versions"),
)


def draw(context: PageContext) -> None:
    st.title(tr("Guideline"))
    dataset = require_dataset(context)
    versions = context.call(list_versions, dataset)
    if context.role not in ("lead", "admin"):
        with st.container(width=760):
            draw_rubric(versions[0])
        return
    draft = find_draft(dataset, versions[0])
    base = next((item for item in versions if item.version == draft.base), versions[0])
    draft.base = base.version
    note_typed(draft, base, read_typed(draft, base))
    _draw_tabs(context, dataset, versions, base, draft)
    keep_focus()


def _draw_tabs(
    context: PageContext,
    dataset: str,
    versions: list[GuidelineVersion],
    base: GuidelineVersion,
    draft: GuidelineDraft,
) -> None:
    names = (READ, LEARN, WRITE, VERSIONS)
    apply_url_tab(TABS, names)
    reading, learning, writing, looking_back = st.tabs(
        [tr(name) for name in names], key=TABS, bind="query-params"
    )
    if writing.open:
        bring_to_screen(draft, base)
    draw_keeper(context, dataset, draft, base)
    if reading.open:
        with reading, st.container(width=760):
            draw_published()
            if draft.fields:
                st.info(
                    tr("You have an unpublished draft on the tab Next version."), icon=":material/edit_note:"
                )
            draw_rubric(versions[0])
    if learning.open:
        with learning, st.container(width=760):
            draw_worklist(context, DraftDesk(dataset, base))
    if writing.open:
        with writing:
            draw_form(context, dataset, versions[0], base, draft)
    if looking_back.open:
        with looking_back, st.container(width=760):
            draw_outdated(context, dataset)
            draw_history(context, dataset, versions)


READ = say("Current")
TABS = "standard"  # the key of the page's tabs, also in its address
WHY_REFUSED, PUBLISHED, PUBLISHED_PLACE = (
    "guideline why refused",
    "guideline published",
    "guideline-published",
)
CHANGES = {"minor": say("Wording (minor)"), "semantic": say("Meaning of a grade (semantic)")}


def draw_publishing(
    context: PageContext, dataset: str, base: GuidelineVersion, draft: GuidelineDraft
) -> None:
    """Draw the comparison with the current version, the kind of change, its reason, and the button."""
    st.header(tr("Changes"))
    shown = read_fields(draft, base)
    rubric = to_rubric(shown)
    comparison = compare_draft(base.rubric, rubric)
    _draw_chosen(read_chosen(shown[CHOSEN]))
    if comparison.is_empty:
        draw_note(tr("No changes yet. Your changes to version {version} appear here.", version=base.version))
        _draw_refused()
        return
    draw_comparison(comparison)
    draw_outdated_translations(base.rubric, rubric)
    again = context.call(count_judgments_made_outdated, dataset)
    meant = {
        "minor": tr("No judgments need to be confirmed."),
        "semantic": _describe_again(again),
    }
    proposed = propose_change(base.rubric, rubric)
    change_key, why_key = f"guideline change {proposed} {dataset}", f"guideline why {dataset}"
    change = st.radio(
        tr("Kind of change"),
        list(CHANGES),
        index=list(CHANGES).index(proposed),
        format_func=lambda kind: tr(CHANGES[kind]),
        captions=[meant[kind] for kind in CHANGES],
        key=change_key,
        persist_state="session",
    )
    st.text_area(
        tr("Why (required)") if change == "semantic" else tr("Why (optional)"),
        key=why_key,
        height=80,
        on_change="ignore",
        persist_state="session",
        help=tr("Annotators see it next to the changes."),
    )
    if why_refused := st.session_state.pop(WHY_REFUSED, None):
        draw_problem(why_refused)
    st.button(
        tr("Publish version {version}", version=base.version + 1),
        type="primary",
        key=f"publish {draft.mark}",
        on_click=_publish,
        args=(dataset, base, draft, shown, change_key, why_key),
    )
    _draw_refused()


def _describe_again(judgments: int) -> str:
    return tr_n(
        "{n:,} judgment must be confirmed or changed by its annotator.",
        "{n:,} judgments must be confirmed or changed by their annotators.",
        judgments,
    )


def draw_published() -> None:
    published = st.session_state.pop(PUBLISHED, None)
    if published:
        with st.container(key=PUBLISHED_PLACE):
            st.success(escape_markdown(published), icon=":material/check:")


def draw_meanwhile(
    dataset: str, present: GuidelineVersion, base: GuidelineVersion, draft: GuidelineDraft
) -> None:
    """Draw a notice of another lead's new version with a button to merge, or the result of the merge."""
    if draft.fields and present.version != base.version:
        st.warning(
            tr(
                "{name} published version {version} while you were editing. Your draft is still here.",
                name=escape_markdown(_name(present)),
                version=present.version,
            ),
            icon=":material/group:",
        )
        st.button(
            tr("Combine both"),
            key=f"merge {draft.mark}",
            type="primary",
            on_click=_merge,
            args=(dataset, base, draft),
        )
    if draft.merged is None:
        return
    conflicts = find_conflicts(to_rubric(read_fields(draft, base)))
    message = tr(
        "{name} published version {version} while you were editing. The fields below contain both changes.",
        name=escape_markdown(draft.merged["name"]),
        version=draft.merged["version"],
    )
    if conflicts:
        fields = join_names(tr(name) for name in conflicts)
        st.warning(f"{message} {_explain_marks(fields)}", icon=":material/call_split:")
    else:
        st.info(message, icon=":material/merge:")
    began, published, typed = (to_rubric(draft.merged[name]) for name in ("base", "theirs", "mine"))
    with st.expander(tr("Changes in the other version")):
        draw_comparison(compare_draft(began, published))
    with st.expander(tr("Your changes")):
        draw_comparison(compare_draft(began, typed))


def _explain_marks(fields: str) -> str:
    return tr(
        "The changes conflict in: {fields}. Both are shown between {opens} and {closes}, the "
        "published one first. Keep the right one and remove the conflict marks.",
        fields=fields,
        opens=escape_markdown("<<<<<<<"),
        closes=escape_markdown(">>>>>>>"),
    )


def _publish(
    dataset: str,
    base: GuidelineVersion,
    draft: GuidelineDraft,
    shown: dict[str, str],
    change_key: str,
    why_key: str,
) -> None:
    context = find_context()
    if context is None:
        return
    typed = read_typed(draft, base)
    chosen = read_chosen(typed[CHOSEN])
    change, why = st.session_state.get(change_key, ""), st.session_state.get(why_key) or ""
    if typed != shown:
        _refuse(tr("Your last change was added to the comparison. Check it, then publish."))
        return
    try:
        check_change(change, why)
    except ValidationError as error:
        st.session_state[WHY_REFUSED] = show_refusal(error)
        return
    again = 0
    try:
        if change == "semantic":
            again = context.call(count_judgments_made_outdated, dataset)
        made = context.call(
            publish_version,
            dataset,
            to_rubric(typed),
            base_version=base.version,
            change=change,
            why=why,
            decisions=chosen.decisions,
            questions=chosen.questions,
            may_remove_languages=True,
            now=context.now,
        )
    except VersionConflict:
        _merge(dataset, base, draft)
    except AnnotatorError as error:
        _refuse(tr("Not published: {why}", why=escape_markdown(show_refusal(error))))
    else:
        set_draft(dataset, GuidelineDraft(made.version, {}))
        st.session_state.pop(why_key, None)
        sentences = [
            tr("Version {version} published.", version=made.version),
            tr("It is the current guideline now. Annotators see what changed while they label."),
        ]
        if again:
            sentences.append(_describe_again(again))
        st.session_state[PUBLISHED] = join_sentences(sentences)
        st.session_state[TABS] = tr(READ)
        note_press(PUBLISHED_PLACE)


def _merge(dataset: str, base: GuidelineVersion, draft: GuidelineDraft) -> None:
    context = find_context()
    if context is None:
        return
    typed = read_typed(draft, base)
    try:
        published, merge = context.call(merge_draft, dataset, to_rubric(typed), base.version)
    except AnnotatorError as error:
        _refuse(escape_markdown(show_refusal(error)))
        return
    before, after = to_fields(published.rubric), to_fields(merge.rubric)
    merged = {
        "name": _name(published),
        "version": published.version,
        "base": to_fields(base.rubric),
        "theirs": before,
        "mine": typed,
    }
    fields = {name: text for name, text in after.items() if text != before[name]}
    if typed[CHOSEN]:
        fields[CHOSEN] = typed[CHOSEN]
    set_draft(dataset, GuidelineDraft(published.version, fields, merged))


def _draw_chosen(chosen: ChosenExamples) -> None:
    if chosen.decisions:
        draw_note(
            tr_n(
                "Answers {n:,} decision. The version will list it.",
                "Answers {n:,} decisions. The version will list them.",
                len(chosen.decisions),
            )
        )
    if chosen.questions:
        draw_note(
            tr_n(
                "Answers {n:,} question marked for the guideline.",
                "Answers {n:,} questions marked for the guideline.",
                len(chosen.questions),
            )
        )


def _name(version: GuidelineVersion) -> str:
    return version.author or tr("The operator")


def _refuse(message: str) -> None:
    st.session_state["guideline refused"] = message


def _draw_refused() -> None:
    refused = st.session_state.pop("guideline refused", None)
    if refused:
        st.error(refused, icon=":material/block:")


def draw_form(
    context: "PageContext",
    dataset: str,
    present: GuidelineVersion,
    base: GuidelineVersion,
    draft: GuidelineDraft,
) -> None:
    with st.container():  # always drawn: the fields below keep their position and the focus
        draw_meanwhile(dataset, present, base, draft)
        _draw_head(dataset, draft)
    draw_fields(dataset, base, draft)
    draw_publishing(context, dataset, base, draft)


def _draw_head(dataset: str, draft: GuidelineDraft) -> None:
    if draft.restored:
        st.info(tr("Your saved draft. It is not published yet."), icon=":material/history:")
    if draft.fields:
        st.button(
            tr("Discard draft"),
            key=f"discard {draft.mark}",
            icon=":material/delete:",
            on_click=set_draft,
            args=(dataset, GuidelineDraft(draft.base, {})),
        )
