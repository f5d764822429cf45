"""Draw the forms that settle disagreements in bulk: by a policy, or from a file of decisions.

A policy is previewed with every pair that it would settle, then applied, and can be undone. If the preview is
out of date, nothing is settled and the page says why. A file of decisions from a meeting is checked first,
with every bad line listed, then applied as a whole.
"""

from dataclasses import replace
from functools import partial

import streamlit as st

from annotator.adjudication.bulk.bulk_service import (
    FileDecisions,
    adjudicate_file,
    list_batches,
    list_pairs_to_settle,
    settle_by_policy,
    undo_batch,
)
from annotator.adjudication.bulk.policies import (
    POLICIES,
    POLICY_NAMES,
    DecisionBatch,
    PairsToSettle,
    PolicyPreview,
)
from annotator.dataset.service import read_current_rubric
from annotator.domain.errors import AnnotatorError
from annotator.domain.figures import show_number
from annotator.domain.grades import RELEVANT_FROM, list_local_names
from annotator.domain.judgments import describe_blind_pairs
from annotator.web.adjudication.downloads import make_queue_url
from annotator.web.adjudication.queue_url import QueueAddress
from annotator.web.kit.controls import note_press
from annotator.web.kit.figures import show_time
from annotator.web.kit.lists import draw_pager, keep_start
from annotator.web.kit.messages import join_sentences, show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_note, draw_outcome, keep_refusal
from annotator.web.kit.tables import Link, draw_file_link, draw_link_table, draw_table
from annotator.web.navigation import make_url
from annotator.web.page_context import PageContext, require_context
from annotator.web.server.uploads import draw_file_field

DONE, REFUSED, TIMES = "queue settled", "queue not settled", "queue settled times"
SIZE, PAIRS, LISTED_FROM = 20, "pairs-to-settle", "pairs to settle from"


def draw_policies(context: PageContext, dataset: str, here: QueueAddress) -> None:
    """Draw the policies, what the chosen one would do with this part of the queue, and earlier batches."""
    with st.container():
        draw_outcome(DONE, REFUSED)
    draw_note(
        tr(
            "Settles pairs whose grades are adjacent and on the same side of the relevance threshold, "
            "within the filter above. Metrics with a threshold do not depend on the choice."
        )
    )
    _draw_threshold(context, dataset)
    policy = st.radio(
        tr("Policy"),
        POLICIES,
        format_func=lambda name: tr(POLICY_NAMES[name]),
        key="queue policy",
        on_change=keep_start,
        args=(LISTED_FROM, PAIRS, 0),
    )
    listed = context.call(
        list_pairs_to_settle,
        dataset,
        policy,
        _open(here).wanted,
        limit=SIZE,
        offset=int(st.session_state.get(LISTED_FROM, 0)),
        now=context.now,
    )
    _draw_preview(listed.preview)
    if listed.preview.pairs:
        _draw_pairs(dataset, listed)
        _draw_form(dataset, here, listed.preview)
    batches = context.call(list_batches, dataset)
    if batches:
        st.header(tr("Earlier batches"))
        for batch in batches:
            _draw_batch(dataset, batch)


def _draw_threshold(context: PageContext, dataset: str) -> None:
    """Draw which grades count as relevant: a policy settles nothing across that threshold."""
    _version, rubric = context.call(read_current_rubric, dataset)
    name = tr(list_local_names(rubric)[RELEVANT_FROM])
    draw_note(
        tr(
            "Relevance threshold: grade {grade} ({name}) and higher count as relevant.",
            grade=RELEVANT_FROM,
            name=name,
        )
    )


def _draw_pairs(dataset: str, listed: PairsToSettle) -> None:
    rows = [
        (
            Link(
                f"{pair.query_id} {pair.query}",
                make_url("/disagreements", dataset=dataset, pair=pair.pair),
            ),
            [pair.title or pair.doc_id, pair.doc_id if pair.title else ""],
            ", ".join(map(str, pair.grades)),
            str(pair.grade),
        )
        for pair in listed.pairs
    ]
    columns = (tr("query"), tr("document"), tr("grades"), tr("settled grade"))
    with st.container(key=PAIRS):
        draw_link_table(tr("Pairs to settle"), columns, rows, tall=True, stacked=True)
        if listed.blind_pairs:
            draw_note(tr(describe_blind_pairs(listed.blind_pairs)))
    draw_pager(
        listed.offset,
        len(listed.pairs),
        listed.preview.pairs,
        size=SIZE,
        go=partial(keep_start, LISTED_FROM, PAIRS),
        key=PAIRS,
    )


def _draw_preview(preview: PolicyPreview) -> None:
    st.text(tr_n("Pair to settle: {n:,}", "Pairs to settle: {n:,}", preview.pairs))
    if preview.by_grades:
        draw_table(
            tr("Pairs to settle, by grades"),
            (tr("grades"), tr("settled grade"), tr("pairs")),
            [
                (f"{count.low} – {count.high}", count.grade, show_number(count.pairs))
                for count in preview.by_grades
            ],
        )
    if preview.pairs and preview.impact_mean is not None:
        st.text(
            tr(
                "On average the choice changes nDCG of the most affected system by {mean} on a pair's query; "
                "{flips} of the pairs could change the ranking of systems.",
                mean=show_number(preview.impact_mean, 3),
                flips=show_number(preview.flips),
            )
        )
    for count in preview.left_out:
        draw_note(
            tr_n(
                "{n:,} pair stays open: {why}.",
                "{n:,} pairs stay open: {why}.",
                count.pairs,
                why=tr(count.why),
            )
        )


def _draw_form(dataset: str, here: QueueAddress, preview: PolicyPreview) -> None:
    """Draw the rationale and the button, with new keys after each use: a second press does nothing."""
    times = st.session_state.get(TIMES, 0)
    key = f"queue policy why {times}"
    st.text_area(
        tr("Why (required)"),
        key=key,
        max_chars=2000,
        on_change="ignore",
        help=tr("Saved with each decision and shown to the annotators of the pair."),
    )
    st.button(
        tr_n("Settle {n:,} pair", "Settle {n:,} pairs", preview.pairs),
        type="primary",
        key=f"queue settle {times}",
        on_click=_settle,
        args=(dataset, here, preview.policy, preview.digest, key),
    )


def _settle(dataset: str, here: QueueAddress, policy: str, digest: str, key: str) -> None:
    context = require_context()
    with keep_refusal(REFUSED):
        batch = context.call(
            settle_by_policy,
            dataset,
            policy,
            _open(here).wanted,
            rationale=st.session_state.get(key, ""),
            seen_digest=digest,
            now=context.now,
        )
        st.session_state[DONE] = tr_n("{n:,} pair settled.", "{n:,} pairs settled.", batch.pairs)
        st.session_state[TIMES] = st.session_state.get(TIMES, 0) + 1
        note_press()


def _draw_batch(dataset: str, batch: DecisionBatch) -> None:
    description = tr(
        "{pairs} by {name} on {time}: {policy}.",
        pairs=tr_n("{n:,} pair", "{n:,} pairs", batch.pairs),
        name=batch.lead,
        time=show_time(batch.made_at),
        policy=tr(POLICY_NAMES[batch.policy]),
    )
    with st.container(border=True, gap="xxsmall"):
        st.text(description)
        st.text(batch.rationale)
        if batch.undone_at is not None:
            draw_note(
                tr("Undone by {name} on {time}.", name=batch.undone_by or "", time=show_time(batch.undone_at))
            )
            return
        st.button(
            tr("Undo"),
            key=f"queue undo {batch.number}",
            icon=":material/undo:",
            on_click=_undo,
            args=(dataset, batch.number),
            help=tr("The pairs wait for a lead again, except those decided again since."),
        )


def _undo(dataset: str, number: int) -> None:
    context = require_context()
    with keep_refusal(REFUSED):
        done = context.call(undo_batch, dataset, number, now=context.now)
        sentences = [tr_n("{n:,} pair reopened.", "{n:,} pairs reopened.", done.withdrawn)]
        if done.left:
            kept = tr_n(
                "{n:,} pair keeps its newer decision.", "{n:,} pairs keep their newer decision.", done.left
            )
            sentences.append(kept)
        st.session_state[DONE] = join_sentences(sentences)
        note_press()


def _open(here: QueueAddress) -> QueueAddress:
    return replace(here, wanted=replace(here.wanted, shown="open"))


FILE_DONE, FILE_TIMES = "queue file done", "queue file times"


def draw_files(context: PageContext, dataset: str, here: QueueAddress) -> None:
    """Draw the link to the file of this part of the queue, and the field that takes it back."""
    st.header(tr("Decide in a meeting"))
    draw_note(
        tr(
            "The file has one row per pair that matches the filter above, with grades and notes but no "
            "names, and empty columns for the decision. It shows the judgments of others, so you cannot "
            "judge these pairs after downloading it."
        )
    )
    draw_file_link(tr("Queue as CSV"), make_queue_url(dataset, here))
    st.header(tr("Upload decisions"))
    with st.container():
        draw_outcome(FILE_DONE)
    key = f"queue file {st.session_state.get(FILE_TIMES, 0)}"
    file = draw_file_field(
        tr("File with decisions"),
        person_id=context.actor.person_id,
        type="csv",
        key=key,
        help=tr(
            "Either all rows are applied or none. Rows without a grade stay open. A row is rejected if "
            "its pair has changed since the download."
        ),
    )
    if file is not None:
        _draw_checked(context, dataset, file.getvalue(), file.name)


def _draw_checked(context: PageContext, dataset: str, data: bytes, name: str) -> None:
    """Draw what the file would decide, and the button that does it; or what is wrong with the file."""
    try:
        decisions = context.call(adjudicate_file, dataset, data, name, now=context.now, dry_run=True)
    except AnnotatorError as error:
        st.error(tr("Nothing was decided. Correct the file first:"), icon=":material/block:")
        st.code(show_refusal(error), language=None, wrap_lines=True)
        return
    st.text(_describe(decisions))
    n = decisions.decided + decisions.revised + decisions.proposed
    if n:
        st.button(
            tr_n("Decide {n:,} pair", "Decide {n:,} pairs", n),
            type="primary",
            key=f"queue file decide {name}",
            on_click=_decide,
            args=(dataset, data, name),
        )


def _decide(dataset: str, data: bytes, name: str) -> None:
    context = require_context()
    try:
        done = context.call(adjudicate_file, dataset, data, name, now=context.now)
    except AnnotatorError:
        return  # the page checks the file again, and says why
    st.session_state[FILE_DONE] = tr("Done. {what}", what=_describe(done))
    st.session_state[FILE_TIMES] = st.session_state.get(FILE_TIMES, 0) + 1
    note_press()


def _describe(decisions: FileDecisions) -> str:
    counted = (
        (decisions.decided, tr("new decisions: {n:,}", n=decisions.decided)),
        (decisions.revised, tr("changed decisions: {n:,}", n=decisions.revised)),
        (decisions.proposed, tr("waiting for a second lead: {n:,}", n=decisions.proposed)),
        (decisions.unchanged, tr("unchanged decisions: {n:,}", n=decisions.unchanged)),
        (decisions.skipped, tr("left open: {n:,}", n=decisions.skipped)),
    )
    return "; ".join(words for n, words in counted if n) or tr("The file contains no decisions.")
