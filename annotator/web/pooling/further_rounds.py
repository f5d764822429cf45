"""Draw and make rounds without a search: from relations between documents, or from unjudged results.

They use the services of `annotator suggest` and `annotator pool --holes`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import streamlit as st

from annotator.domain.errors import AnnotatorError, StateError, ValidationError
from annotator.domain.figures import show_number
from annotator.domain.grades import GRADES
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.evaluation.holes_service import HOLE_DEPTH, MAX_DEPTH, PooledHoles, pool_holes
from annotator.formats.input_tables import RelationLine, read_relation_table
from annotator.formats.syntax.source import InputSource
from annotator.importing.texts.texts_service import find_law_relations
from annotator.pooling.rounds.rounds_service import STORING
from annotator.pooling.service import RoundChoices
from annotator.pooling.suggestions.suggestion_rules import (
    SETTLED_AT,
    SuggestionRule,
    SuggestReport,
    read_rules,
    take_follow,
)
from annotator.pooling.suggestions.suggestions_service import suggest_from
from annotator.storage.database import Database
from annotator.web.kit.background_work import ReportStep
from annotator.web.kit.figures import show_share
from annotator.web.kit.messages import show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_link_table
from annotator.web.page_context import PageContext
from annotator.web.pooling.round_form import FIELDS, refuse
from annotator.web.server.uploads import draw_file_field

KINDS = {
    "search": say("Systems and searches"),
    "relations": say("Relations between documents"),
    "holes": say("Unjudged results"),
}
LAW, FILE = "law texts", "file"
SOURCES = {LAW: say("References in the law texts"), FILE: say("A file with the columns from, to, relation")}
FOLLOW_NAMES = {
    "": say("do not follow"),
    "forward": say("in its direction"),
    "backward": say("against its direction"),
    "both": say("both ways"),
    "siblings": say("to others that lead to the same"),
}
LAW_NAMES = {
    "sibling": say("Parts of the same article"),
    "decree": say("What a decree says about an article"),
    "rule": say("What an enforcement rule says about an article"),
    "reference": say("Articles that a text refers to"),
}
MOST_LINES = 50_000  # of a file of relations, which each browser tab keeps in the server's memory
MOST_RELATIONS = 30  # names in a file that get fields
MOST_HOLES = 20
READ = "relations of the file"


@dataclass(frozen=True, slots=True)
class SuggestionRequest:
    """Follow these relations by these rules. `lines` None: the relations in the dataset's law texts."""

    source: str
    lines: tuple[RelationLine, ...] | None
    rules: tuple[SuggestionRule, ...]
    skip_unknown: bool


@dataclass(frozen=True, slots=True)
class HoleRequest:
    """Add at most `limit` unjudged documents of the first `depth` results to the pool. `systems` None: of all runs."""

    depth: int
    limit: int | None
    systems: tuple[str, ...] | None


FurtherRequest = SuggestionRequest | HoleRequest
FurtherReport = SuggestReport | PooledHoles


def make_further_round(
    database: Database,
    actor: Actor,
    dataset: str,
    request: FurtherRequest,
    *,
    now: datetime,
    dry_run: bool,
    progress: ReportStep,
) -> FurtherReport:
    """Make the round, or preview it with `dry_run`."""
    if isinstance(request, HoleRequest):
        progress("ranking" if dry_run else STORING, 0.0)
        return pool_holes(
            database,
            actor,
            dataset,
            now=now,
            depth=request.depth,
            systems=request.systems,
            limit=request.limit,
            dry_run=dry_run,
        )
    lines, rules = request.lines, request.rules
    if lines is None:
        progress("reading documents", 0.0)
        try:
            relations = find_law_relations(database, actor, dataset).relations
        except StateError:
            raise StateError(
                say(
                    "No document of this dataset is an article of a law. Import the laws by articles or paragraphs, or use a file of relations."
                )
            ) from None
        lines = tuple(RelationLine(number, *relation) for number, relation in enumerate(relations, 1))
        present = {line.relation for line in lines}
        rules = tuple(rule for rule in rules if rule.relation in present)
    progress("ranking" if dry_run else STORING, 0.0)
    return suggest_from(
        database,
        actor,
        dataset,
        lines,
        rules,
        request.source,
        now=now,
        dry_run=dry_run,
        skip_unknown=request.skip_unknown,
    )


def draw_further_form(context: PageContext, kind: str, choices: RoundChoices) -> FurtherRequest | None:
    """Draw the fields of a kind of round, and return their request; None while something is missing."""
    return _draw_relation_form(context, choices) if kind == "relations" else _draw_hole_form(choices)


def draw_further_report(report: FurtherReport) -> int:
    """Draw the preview of a round, and return the number of new pairs."""
    st.subheader(tr("Preview"))
    return _draw_suggestions(report) if isinstance(report, SuggestReport) else _draw_holes(report)


# Relations ----------------------------------------------------------------------------------------------


def _draw_relation_form(context: PageContext, choices: RoundChoices) -> SuggestionRequest | None:
    draw_note(
        tr(
            "From each document settled at grade {grade}, relations lead to documents that may help too. These become pairs with a "
            "suggested grade, which only leads see and which settles nothing.",
            grade=SETTLED_AT,
        )
    )
    source = FIELDS.keep(
        "relations",
        st.radio(
            tr("Relations"),
            list(SOURCES),
            FIELDS.find_index("relations", SOURCES, 0 if "law" in choices.fields else 1),
            format_func=lambda name: tr(SOURCES[name]),
            key=FIELDS.find_key("relations"),
        )
        or LAW,
    )
    template = {rule.relation: rule for rule in read_rules("law", ("sibling", "decree", "rule", "reference"))}
    if source == LAW:
        rules = _draw_rules(list(template), template, Counter())
        return SuggestionRequest(tr(SOURCES[LAW]), None, rules, skip_unknown=False) if rules else None
    name, lines = _draw_file(context)
    if lines is None:
        return None
    counts = Counter(line.relation for line in lines if line.relation)
    rules = _draw_rules([relation for relation, _ in counts.most_common(MOST_RELATIONS)], template, counts)
    skip = FIELDS.ask_flag(tr("Leave out relations of documents that the dataset does not have"), "skip")
    return SuggestionRequest(name, lines, rules, skip_unknown=skip) if rules else None


def _draw_file(context: PageContext) -> tuple[str, tuple[RelationLine, ...] | None]:
    """Draw the field for a file; return its name and relations. They are kept while the form is used."""
    file = draw_file_field(
        tr("File of relations"),
        person_id=context.actor.person_id,
        type=["csv", "tsv", "jsonl"],
        key=FIELDS.find_key("relation file"),
    )
    kept_id, kept_name, kept_lines = st.session_state.get(READ, (None, "", None))
    if file is None:
        return kept_name, kept_lines
    if file.file_id == kept_id:
        return kept_name, kept_lines
    data = file.getvalue()
    try:
        if max(data.count(b"\n"), data.count(b"\r")) > MOST_LINES:
            raise ValidationError(
                say(
                    "A file of relations has at most {n} lines here. For longer ones, use the command: annotator suggest",
                    n=f"{MOST_LINES:,}",
                )
            )
        lines = read_relation_table(InputSource(file.name, data))
    except AnnotatorError as error:
        st.session_state.pop(READ, None)
        refuse(show_refusal(error))
        return file.name, None
    st.session_state[READ] = (file.file_id, file.name, lines)
    return file.name, lines


def _draw_rules(
    relations: Sequence[str], template: dict[str, SuggestionRule], counts: Counter[str]
) -> tuple[SuggestionRule, ...]:
    rules: list[SuggestionRule] = []
    for relation in relations:
        ready = template.get(relation)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            if relation in counts:
                label = tr("Relation {name} ({count})", name=relation, count=show_number(counts[relation]))
            else:
                label = tr(LAW_NAMES[relation])
            options = list(FOLLOW_NAMES)
            follow = FIELDS.choose(
                label,
                options,
                f"follow {relation}",
                options.index(ready.follow) if ready else 0,
                format_func=lambda name: tr(FOLLOW_NAMES[name]),
                width=340,
            )
            grade = FIELDS.choose(
                tr("Suggested grade"),
                GRADES,
                f"grade {relation}",
                GRADES.index(ready.grade) if ready else 1,
                width=160,
                disabled=not follow,
            )
        if follow:
            rules.append(SuggestionRule(relation, relation, take_follow(follow), int(grade or 0)))
    if not rules:
        draw_note(tr("Choose which relations are followed."))
    return tuple(rules)


def _draw_suggestions(report: SuggestReport) -> int:
    st.text(
        tr_n("{n:,} new pair.", "{n:,} new pairs.", report.new_pairs)
        if report.new_pairs
        else tr("No new pair.")
    )
    draw_note(
        tr(
            "Queries with new pairs: {queries}. Pairs with a suggestion: {suggestions}.",
            queries=show_number(report.queries_widened),
            suggestions=show_number(report.suggestions),
        )
    )
    draw_note(
        tr_n(
            "They start from {n:,} document settled at grade {grade}.",
            "They start from {n:,} documents settled at grade {grade}.",
            report.settled_documents,
            grade=SETTLED_AT,
        )
    )
    if report.rules:
        draw_link_table(
            tr("By relation"),
            [
                tr("relation"),
                tr("suggested grade"),
                tr("pairs"),
                tr("new"),
                tr("waiting for judgments"),
                tr("judged before"),
                tr("of these, relevant"),
            ],
            [
                [
                    rule.relation,
                    str(rule.grade),
                    show_number(rule.pairs),
                    show_number(rule.new),
                    show_number(rule.waiting),
                    show_number(rule.judged_before),
                    "–"
                    if not rule.settled_before
                    else show_share(rule.relevant_before / rule.settled_before),
                ]
                for rule in report.rules
            ],
            roomy=True,
        )
    if report.unknown_documents:
        draw_note(
            tr_n(
                "{n:,} document of the file is not in the dataset; its relations are left out.",
                "{n:,} documents of the file are not in the dataset; their relations are left out.",
                report.unknown_documents,
            )
        )
    return report.new_pairs


# Unjudged results ---------------------------------------------------------------------------------------


def _draw_hole_form(choices: RoundChoices) -> HoleRequest | None:
    draw_note(
        tr(
            "Unjudged documents among the first results of the systems become pairs. Those whose grade can change the systems' order "
            "most come first."
        )
    )
    if not choices.systems:
        st.info(tr("There is no imported run yet. Import or fetch one first."), icon=":material/info:")
        return None
    systems = FIELDS.choose_several(tr("Systems"), choices.systems, "hole systems", choices.systems)
    with st.container(horizontal=True):
        depth = FIELDS.ask_number(tr("Results per query"), "hole depth", HOLE_DEPTH, 1, MAX_DEPTH)
        limit = FIELDS.ask_number(tr("Maximum number of pairs"), "hole limit", 100, 1, 1_000_000)
    if not systems:
        refuse(tr("Choose at least one system."))
        return None
    is_every_system = len(systems) == len(choices.systems)
    return HoleRequest(int(depth), int(limit), None if is_every_system else tuple(systems))


def _draw_holes(report: PooledHoles) -> int:
    new = len(report.documents)
    st.text(tr_n("{n:,} new pair.", "{n:,} new pairs.", new) if new else tr("No new pair."))
    draw_note(
        tr(
            "Unjudged documents among these results: {holes}. In the pool already: {there}. Left for later: {left}.",
            holes=show_number(report.holes),
            there=show_number(report.already_there),
            left=show_number(report.left),
        )
    )
    draw_note(tr(report.sentence))
    if new:
        draw_link_table(
            tr("New pairs, most influential first"),
            [tr("query"), tr("document"), tr("influence on {measure}", measure=report.measure)],
            [
                [item.query_id, item.doc_id, show_number(item.influence, 4)]
                for item in report.documents[:MOST_HOLES]
            ],
            tall=True,
        )
        if new > MOST_HOLES:
            draw_note(tr("and {n:,} more", n=new - MOST_HOLES))
    return new
