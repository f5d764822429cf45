"""No figure tells a lead a grade of a pair that the lead may still judge: neither alone nor compared with other figures.

Two datasets are the same but for the grades of these pairs. Every way must show the lead the same of both: then nothing that
is computed from any number of its answers (groups by an own column, own runs, filters, seeds, thresholds) can tell the grades.
A lead without a pair to judge must see a difference, so that each way is known to depend on the grades.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, is_dataclass, replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pytest
from sqlalchemy import select
from sqlmodel import col
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from typer.testing import CliRunner

from annotator.adjudication.bulk.bulk_service import (
    adjudicate_file,
    export_queue,
    list_pairs_to_settle,
    preview_policy,
)
from annotator.adjudication.discussion.discussion_service import ask_to_discuss
from annotator.adjudication.history.history import AuditLogFilter
from annotator.adjudication.history.history_service import iterate_audit_log, read_audit_log
from annotator.adjudication.queue.queue_records import QueueFilter
from annotator.adjudication.queue.queue_service import (
    compute_queue_pace,
    count_open,
    find_disagreements,
    list_queue,
    summarize_queue,
)
from annotator.adjudication.service import adjudicate, hand_out_disagreements
from annotator.agreement.records import PairSelection
from annotator.agreement.service import (
    compare_version,
    compute_agreement,
    compute_consensus,
    iterate_left_out_judgments,
    iterate_selected_pairs,
    list_selected_pairs,
    read_stamp,
)
from annotator.cli.main import app as commands
from annotator.dataset.service import change_settings
from annotator.domain.errors import AnnotatorError, BadInput, GateNotMet, NotAllowed, StateError
from annotator.domain.people import OPERATOR, Actor, SignedIn
from annotator.evaluation.evaluate import EvaluationOptions
from annotator.evaluation.holes_service import pool_holes
from annotator.evaluation.rankings_service import compare_on_releases
from annotator.evaluation.reports.html_report import render_html
from annotator.evaluation.reports.json_and_csv import build_json, write_csv
from annotator.evaluation.reports.report_values import render_markdown
from annotator.evaluation.scores.scoring import ScoringOptions
from annotator.evaluation.service import (
    EvaluationRequest,
    evaluate_dataset,
    find_leader,
    list_choices,
    record_shown_grades,
)
from annotator.formats.input_tables import RelationLine
from annotator.importing.judgments.judgments_service import import_judgments, import_qrels
from annotator.importing.remapping.remapping_service import remap_documents
from annotator.importing.runs.runs_service import import_run
from annotator.labeling.assignment_service import preview_overlap
from annotator.labeling.calibration_service import find_candidates, import_checks
from annotator.overview.service import give_up_blind_pairs, keep_answers, show_overview, show_status
from annotator.overview.settings_effects_service import describe_effects
from annotator.overview.waiting_service import count_waiting_work
from annotator.pooling.analysis.pool_analysis import PairFilter
from annotator.pooling.analysis.pool_analysis_service import (
    list_pair_page,
    show_contents,
    show_depth,
    show_pair,
    show_rounds,
)
from annotator.pooling.duplicates.duplicates_service import show_duplicates
from annotator.pooling.proposals.proposals_service import list_proposals
from annotator.pooling.rounds.pool_records import PoolRequest
from annotator.pooling.rounds.rounds_service import make_round
from annotator.pooling.suggestions.suggestion_rules import SuggestionRule
from annotator.pooling.suggestions.suggestions_service import report_suggestions, suggest_from
from annotator.quality.quality_sql import add_draw
from annotator.quality.service import draw_sample, list_experts, preview_sample, show_quality
from annotator.releases.files_service import list_releases
from annotator.releases.gates_service import check_release
from annotator.releases.published_service import browse_qrels, compare_releases, count_withheld, note_release
from annotator.releases.service import preview_release, publish_release
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.logs.disclosures import list_blind_pairs, list_to_judge, note_seen
from annotator.storage.lookup import key_of
from annotator.storage.pairs.pair_settlements import read_settlements
from annotator.storage.pairs.pair_states import iterate_pair_states
from annotator.storage.tables.adjudication import QualityPairRow
from annotator.storage.tables.central import CurrentJudgmentRow, QueryRow
from annotator.storage.tables.labeling import DisclosureRow, ProposalRow
from annotator.storage.tables.releases import ReleaseQrelRow, ReleaseRow
from annotator.web.downloads import list_late_routes
from annotator.web.kit.messages import tr
from annotator.web.navigation import PAGES
from annotator.web.server.refusals import EXCEPTION_HANDLERS
from tests.databases import CopyWorld
from tests.integration.labeling_world import NOW
from tests.integration.quality_world import QualityWorld

QUERIES, DOCUMENTS = 6, 4
OWN = "lea"
"""A column of the queries that the lead imported, with another value for each query."""
MEASURES = ("P(rel=1)@1", "P(rel=2)@1", "P(rel=3)@1", "nDCG@10", "ERR@10")


class Figures(QualityWorld):
    """`d` with 24 pairs and overlap 3. All three annotators judged the first half. The second half still lacks a judgment, and lea
    may give it. Of the first half, one pair was drawn for lea to check. Of the second half, lea has answered one, and may change
    the answer. boss leads too, and has seen everything."""

    def __init__(self, database: Database, *, shift: int) -> None:
        super().__init__(database, queries=QUERIES, documents=DOCUMENTS, settled=False, overlap=3)
        self.shift, pks = shift, list(self.keys)
        self.done, self.open = pks[: len(pks) // 2], pks[len(pks) // 2 :]
        self.drawn_pair = self.done[-2]
        self.boss = self.person("boss", "lead")
        self._describe_queries()
        self._import_runs()
        for index, pk in enumerate(self.done):
            moved = shift if pk == self.drawn_pair else 0
            for who, add in ((self.ann, 0), (self.bea, index % 5 == 1), (self.cho, 0)):
                self.judge_as(who, pk, (index + add + moved) % 4)
        for index, pk in enumerate(self.open):
            self.judge_as(self.ann, pk, (index + shift) % 4)
            differs = index % 4 if shift else index % 2
            is_graded = (index + shift) % 6
            self.judge_as(
                self.bea,
                pk,
                (index + shift + differs) % 4 if is_graded else None,
                outcome="graded" if is_graded else "unrateable",
            )
        self.answered = self.open[-1]
        self.judge_as(self.lea, self.answered, 2)
        with database.write() as session:
            derive_work(session, self.dataset_pk)
        note_seen(database, pks, self.boss.person_id, now=self.now)
        note_seen(
            database, [pk for pk in self.done if pk != self.drawn_pair], self.lea.person_id, now=self.now
        )
        self.later(seconds=1)
        self._draw_for_lea()
        with database.write() as session:
            session.add_all(
                ProposalRow(pair_pk=pk, annotator_pk=key_of(self.ann.person_id), proposed_at=self.now)
                for pk in self.open[:4]
            )
        self._publish()
        self._ask_to_discuss()

    def _draw_for_lea(self) -> None:
        values = {
            "number": 1,
            "round": 1,
            "annotator_pk": self.lea.person_id,
            "rate": 0.1,
            "seed": 0,
            "population": 12,
            "outside": 0,
            "drawn_at": self.now,
        }
        settled_grade = (self.done.index(self.drawn_pair) + self.shift) % 4
        with self.database.write() as session:
            add_draw(session, self.dataset_pk, values, [(self.drawn_pair, settled_grade, "unanimous")])
            values |= {"number": 2, "annotator_pk": self.cho.person_id}
            add_draw(session, self.dataset_pk, values, [(pk, 1, "unanimous") for pk in self.open[4:9]])
            for index, row in enumerate(
                session.scalars(select(QualityPairRow).where(col(QualityPairRow.draw_pk) == 2))
            ):
                row.outcome, row.grade = "graded", (1 + self.shift * (index + 1)) % 4
                row.answered_at = self.now

    def _describe_queries(self) -> None:
        """What a lead can import: an own column, a narrative and a category that are different for each query."""
        with self.database.write() as session:
            for row in session.scalars(select(QueryRow)):
                row.extra = {OWN: f"own {row.query_id}"}
                row.narrative, row.category = f"narrative {row.query_id}", f"category {row.query_id}"

    def _import_runs(self) -> None:
        """A run with all documents, and runs with one document of each query, as a lead makes them to learn its grade."""
        runs = {"all": self.list_run(range(DOCUMENTS))}
        runs |= {f"only{at}": self.list_run([at]) for at in range(DOCUMENTS)}
        runs["outside"] = "".join(f"Q{at} Q0 문서/{(at + 1) % QUERIES}-0 1 9 x\n" for at in range(QUERIES))
        for system, lines in runs.items():
            with NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
                file.write(lines)
                file.flush()
                import_run(self.database, OPERATOR, "d", Path(file.name), system=system, now=self.now)

    def _publish(self) -> None:
        """Two releases. In the later one, the pairs that lea may still judge have other grades in the other dataset."""
        for version in ("0.0.9", "0.1.0"):
            with self.database.write() as session:
                release = ReleaseRow(
                    dataset_pk=self.dataset_pk,
                    version=version,
                    created_at=self.now,
                    content_sha256="0",
                    sums="",
                    manifest={
                        "scale": [],
                        "guideline_version": 1,
                        "published_by": "boss",
                        "previous": None,
                        "counts": {"qrels": len(self.keys)},
                        "files": [],
                        "gates": [
                            {
                                "name": "kappa",
                                "required": 0.7,
                                "measured": 0.6 + self.shift / 5,
                                "met": bool(self.shift),
                                "override": None if self.shift else {"reason": "r", "by": "boss"},
                            }
                        ],
                    },
                    note="",
                )
                session.add(release)
                session.flush()
                for at, pk in enumerate(self.keys):
                    is_blind = version == "0.1.0" and pk in (*self.open, self.drawn_pair)
                    row = ReleaseQrelRow(
                        release_pk=key_of(release.pk),
                        position=at,
                        query_id=f"Q{self.name(pk)[0]}",
                        doc_id=f"문서/{self.name(pk)}",
                        grade=1 + self.shift * is_blind,
                        origin="unanimous",
                        judgments="",
                    )
                    session.add(row)

    def _ask_to_discuss(self) -> None:
        """boss asks the annotators about the pairs on which they differ, which are others in the other dataset."""
        for pk in self.open:
            with suppress(StateError):
                ask_to_discuss(self.database, self.boss, "d", self.keys[pk], now=self.now)

    def list_run(self, documents: Any) -> str:
        return "".join(
            f"Q{number} Q0 문서/{number}-{index} {rank} {100 - rank} x\n"
            for number in range(QUERIES)
            for rank, index in enumerate(documents, start=1)
        )


class OneFigures(Figures):
    def __init__(self, database: Database) -> None:
        super().__init__(database, shift=0)


class OtherFigures(Figures):
    def __init__(self, database: Database) -> None:
        super().__init__(database, shift=1)


Pair = tuple[Figures, Figures]


@pytest.fixture
def worlds(copy_world: CopyWorld) -> Pair:
    return copy_world(OneFigures), copy_world(OtherFigures)


def evaluate(world: Figures, actor: Actor, *systems: str, version: str | None = None, **options: Any) -> Any:
    request = EvaluationRequest(
        scoring=ScoringOptions(measures=MEASURES), options=EvaluationOptions(resamples=20, **options)
    )
    return evaluate_dataset(world.database, actor, "d", request, version=version, systems=systems)


def write_json(world: Figures, actor: Actor, **options: Any) -> object:
    result = evaluate(world, actor, **options)
    return build_json(result.evaluation, truth_source=result.source, by_query=True)


def render(world: Figures, actor: Actor) -> object:
    result = evaluate(world, actor, group_by=(OWN,))
    made: dict[str, Any] = {
        "tr": tr,
        "made_at": NOW,
        "program": "x",
        "robustness": result.robustness,
        "checks": result.targets,
    }
    return render_markdown(result.evaluation, **made), render_html(result.evaluation, language="en", **made)


def try_requirements(world: Figures, actor: Actor) -> object:
    """Thresholds on an own category: one bit of the grades for each."""
    return [
        describe_effects(world.database, actor, "d", {}, requirements=requirements, now=world.now)
        for requirements in (
            {"queries_at_least": 1, "most_without_relevant": 0},
            *({"relevant_documents_total": [least, 99]} for least in range(1, 24)),
        )
    ]


def try_targets(world: Figures, actor: Actor) -> object:
    return [
        describe_effects(world.database, actor, "d", {"kappa_target": f"{step / 50:.2f}"}, now=world.now)
        for step in range(1, 50, 3)
    ]


def list_every_selection(world: Figures, actor: Actor) -> object:
    selections = [
        PairSelection("given", who, grade=grade, by=by, value=value)
        for grade in range(4)
        for who in ((), ("ann",), ("bea",))
        for by, value in (
            (None, None),
            *((OWN, f"own Q{number}") for number in (0, QUERIES - 1)),
            ("document:media_type", "text/plain"),
        )
    ]
    selections += [
        PairSelection(kind, who) for kind in ("shared", "differing") for who in ((), ("ann", "bea"))
    ]
    return [
        list_selected_pairs(world.database, actor, "d", selection, limit=50, now=world.now)
        for selection in selections
    ]


FILTERS = [
    *(
        QueueFilter(shown="all", category=f"category Q{number}", grades=grades)
        for number in range(QUERIES)
        for grades in (None, (0, 1), (1, 2), (2, 3), (0, 3))
    ),
    *(QueueFilter(distance=distance) for distance in (1, 2, 3)),
]


def list_every_filter(world: Figures, actor: Actor) -> object:
    return [list_queue(world.database, actor, "d", chosen, now=world.now) for chosen in FILTERS]


def export_every_filter(world: Figures, actor: Actor) -> object:
    """That a pair is in no file tells its grades as well, without the pair being recorded."""
    return [list(export_queue(world.database, actor, "d", chosen, now=world.now)) for chosen in FILTERS]


def show_every_pair(world: Figures, actor: Actor) -> object:
    return [
        show_pair(world.database, actor, "d", world.keys[pk], now=world.now)
        for pk in (*world.open, world.drawn_pair)
    ]


def browse_by_every_filter(world: Figures, actor: Actor) -> object:
    """A filter and the name of one document: whether it is found tells its grade."""
    filters: list[dict[str, Any]] = [{"grade": grade} for grade in range(4)]
    filters += [{"origin": "unanimous"}, {"changed_since": "0.0.9"}]
    return [
        browse_qrels(world.database, actor, "d", "0.1.0", search=search, **chosen, now=world.now)
        for chosen in filters
        for search in ("", *(f"문서/{world.name(pk)}" for pk in world.open))
    ]


def try_every_pair(act: Callable[[Figures, Actor, str], object]) -> "Way":
    """Do something with each pair that the lead may still judge, and list the refusals."""

    def show_refusals(world: Figures, actor: Actor) -> object:
        answers: list[object] = []
        for pk in (*world.open, world.drawn_pair):
            try:
                answers.append(act(world, actor, world.keys[pk]))
            except AnnotatorError as error:
                answers.append((type(error).__name__, str(error)))
        return answers

    return show_refusals


def preview_suggestions(world: Figures, actor: Actor) -> object:
    """A relation from each document alone: a new pair tells that the document is settled at grade 3."""
    rule = SuggestionRule("own", "cites", "forward", 2)
    names = [f"문서/{world.name(pk)}" for pk in world.open]
    others = {name: next(other for other in names if other[3] != name[3]) for name in names}
    return [
        suggest_from(
            world.database,
            actor,
            "d",
            [RelationLine(1, name, other, "cites")],
            [rule],
            "relations",
            now=world.now,
            dry_run=True,
        )
        for name, other in others.items()
    ]


def preview_remap(world: Figures, actor: Actor) -> object:
    """Documents that are split, and one that meets another: what happens to a pair depends on its grades."""
    with NamedTemporaryFile("w", suffix=".csv", encoding="utf-8") as file:
        names = [f"문서/{world.name(pk)}" for pk in world.open]
        lines = [f"{name},{name}#{part}" for name in names[1:] for part in (1, 2)]
        file.write("\n".join(["old_doc_id,new_doc_id", *lines]))
        file.flush()
        report = remap_documents(world.database, actor, "d", Path(file.name), now=world.now, dry_run=True)
        return replace(report, path="")


def _list_progress(world: Figures, actor: Actor) -> object:
    told: list[object] = []
    compute_agreement(
        world.database, actor, "d", resamples=0, report_progress=lambda *first: told.append(first)
    )
    return told


Way = Callable[[Figures, Actor], object]
WAYS: Mapping[str, Way] = {
    "overridden gates of releases": lambda w, a: (
        list_releases(w.database, a, "d", exports_dir=Path("none"))[-1].overridden
    ),
    "agreement": lambda w, a: compute_agreement(w.database, a, "d", resamples=20),
    "agreement by an own column": lambda w, a: compute_agreement(w.database, a, "d", by=OWN, resamples=20),
    "agreement by category": lambda w, a: compute_agreement(w.database, a, "d", by="category", resamples=20),
    "agreement by annotator": lambda w, a: compute_agreement(
        w.database, a, "d", by="annotator", resamples=20
    ),
    "agreement by week": lambda w, a: compute_agreement(w.database, a, "d", by="week", resamples=0),
    "agreement with another seed": lambda w, a: [
        compute_agreement(w.database, a, "d", resamples=20, seed=seed) for seed in (1, 2)
    ],
    "agreement while it is computed": _list_progress,
    "consensus": lambda w, a: compute_consensus(w.database, a, "d", now=w.now),
    "pairs behind a figure": list_every_selection,
    "pairs behind a figure, whole": lambda w, a: list(
        iterate_selected_pairs(w.database, a, "d", PairSelection("differing"), now=w.now)
    ),
    "judgments left out": lambda w, a: list(
        iterate_left_out_judgments(w.database, a, "d", "unrateable", now=w.now)
    ),
    "evaluation": write_json,
    "evaluation by an own column": lambda w, a: write_json(w, a, group_by=(OWN,)),
    "evaluation by narrative": lambda w, a: write_json(w, a, group_by=("narrative", "category")),
    "evaluation of an own run": lambda w, a: [
        asdict(evaluate(w, a, f"only{at}").evaluation.systems[0]) for at in range(DOCUMENTS)
    ],
    "evaluation with another seed": lambda w, a: write_json(w, a, seed=5),
    "evaluation as CSV": lambda w, a: list(write_csv(evaluate(w, a, group_by=(OWN,)).evaluation)),
    "evaluation as Markdown and HTML": render,
    "robustness": lambda w, a: evaluate(w, a).robustness,
    "leading system": lambda w, a: find_leader(w.database, a, "d"),
    "holes": lambda w, a: pool_holes(w.database, a, "d", dry_run=True, now=w.now),
    "pool, contents": lambda w, a: show_contents(w.database, a, "d"),
    "pool, depth": lambda w, a: show_depth(w.database, a, "d"),
    "pool, rounds": lambda w, a: show_rounds(w.database, a, "d")[1],
    "pool, pairs by status": lambda w, a: [
        list_pair_page(w.database, a, "d", PairFilter(status=status, text=text))
        for status in ("unjudged", "single", "unanimous", "disagreement", "unrateable", "reopened")
        for text in ("", *(f"문서/{number}-" for number in range(QUERIES)))
    ],
    "pool, one pair": show_every_pair,
    "pool, adaptive round": lambda w, a: make_round(
        w.database, a, "d", PoolRequest(strategy="adaptive", depth=10, budget=40), now=w.now, dry_run=True
    ),
    "pool, expected relevant": lambda w, a: make_round(
        w.database, a, "d", PoolRequest(depth=4), now=w.now, dry_run=True
    ),
    "near duplicates": lambda w, a: show_duplicates(w.database, a, "d", now=w.now),
    "suggestions": lambda w, a: report_suggestions(w.database, a, "d", now=w.now),
    "overview": lambda w, a: show_overview(w.database, a, "d", history_until=w.now),
    "status": lambda w, a: show_status(w.database, a, "d", now=w.now),
    "effects of settings: requirements": try_requirements,
    "effects of settings: kappa": try_targets,
    "effects of settings: third judgments": lambda w, a: [
        describe_effects(w.database, a, "d", {"overlap": "2", "third_judgment_from": str(n)}, now=w.now)
        for n in (1, 2, 3)
    ],
    "preview of an overlap: third judgments": lambda w, a: [
        preview_overlap(w.database, a, "d", overlap=2, rules={"conditional": n}) for n in (1, 2, 3)
    ],
    "preview of an overlap: third judgments of a share": lambda w, a: [
        preview_overlap(
            w.database,
            a,
            "d",
            overlap=1,
            rules={"conditional": 2, "share": {"share": percent / 100, "overlap": 2}},
        )
        for percent in range(5, 100, 5)
    ],
    "effects of settings: discussions": lambda w, a: [
        describe_effects(w.database, a, "d", {"discuss_from": str(n)}, now=w.now) for n in (1, 2, 3)
    ],
    "gates of a release": lambda w, a: check_release(w.database, a, "d"),
    "preview of a release": lambda w, a: preview_release(w.database, a, "d", now=w.now),
    "quality": lambda w, a: show_quality(w.database, a, "d", now=w.now),
    "preview of a draw": lambda w, a: preview_sample(
        w.database, a, "d", annotator="boss" if a is w.lea else "lea", rate=1.0, new_round=True
    ),
    "experts": lambda w, a: list_experts(w.database, a, "d"),
    "queue": list_every_filter,
    "file for a meeting": export_every_filter,
    "disagreements": lambda w, a: find_disagreements(w.database, a, "d", now=w.now),
    "cases": lambda w, a: hand_out_disagreements(w.database, a, "d", want=50, tab="t", now=w.now),
    "summary of the queue": lambda w, a: summarize_queue(w.database, a, "d"),
    "pace of the queue": lambda w, a: compute_queue_pace(w.database, a, "d", now=w.now),
    "length of the queue": lambda w, a: count_open(w.database, a, "d"),
    "sidebar": lambda w, a: count_waiting_work(w.database, a, "d", "lead", now=w.now),
    "preview of a policy": lambda w, a: [
        preview_policy(w.database, a, "d", "median", QueueFilter(category=f"category Q{n}"), now=w.now)
        for n in range(QUERIES)
    ],
    "pairs of a policy": lambda w, a: list_pairs_to_settle(
        w.database, a, "d", "lower", QueueFilter(), limit=50, now=w.now
    ),
    "choices of an evaluation": lambda w, a: list_choices(w.database, a, "d"),
    "versions compared": lambda w, a: compare_version(w.database, a, "d", resamples=20),
    "published qrels by filters": browse_by_every_filter,
    "releases compared": lambda w, a: compare_releases(w.database, a, "d", "0.0.9", "0.1.0", now=w.now),
    "releases compared on the same runs": lambda w, a: compare_on_releases(
        w.database, a, "d", "0.0.9", "0.1.0", measures=MEASURES, now=w.now
    ),
    "evaluation of a release": lambda w, a: write_json(w, a, version="0.1.0"),
    "candidates for checks": lambda w, a: find_candidates(w.database, a, "d", now=w.now),
    "what annotators proposed": lambda w, a: list_proposals(w.database, a, "d", now=NOW),
    "preview of suggestions": preview_suggestions,
    "refused draw": lambda w, a: draw_sample(
        w.database, a, "d", annotator="boss" if a is w.lea else "lea", size=100, new_round=True, now=w.now
    ),
    "preview of new document ids": preview_remap,
    "activity log": lambda w, a: [
        read_audit_log(w.database, a, "d", AuditLogFilter(pair, action), now=w.now)
        for action in (None, "asked to discuss", "decided")
        for pair in (None, *(w.keys[pk] for pk in w.open))
    ],
    "activity log, whole": lambda w, a: list(iterate_audit_log(w.database, a, "d", now=w.now)),
    "asking to discuss a pair": try_every_pair(
        lambda w, a, pair: ask_to_discuss(w.database, a, "d", pair, now=w.now)
    ),
    "deciding a pair unseen": try_every_pair(
        lambda w, a, pair: adjudicate(w.database, a, "d", pair, grade=1, rationale="§", seen="x", now=w.now)
    ),
}
SAME_FOR_ALL = {
    "experts",
    "near duplicates",
    "suggestions",
    "choices of an evaluation",
    "versions compared",
    "holes",
    "agreement by week",
    "pool, one pair",
    "length of the queue",
    "sidebar",
    "pace of the queue",
    "pool, rounds",
    "effects of settings: kappa",
    "deciding a pair unseen",
}
"""Ways that tell no grade in these datasets."""


def show(world: Figures, actor: Actor, way: str) -> str:
    """Return everything that the way answers, also a refusal."""
    try:
        answer = WAYS[way](world, actor)
    except AnnotatorError as error:
        answer = (type(error).__name__, str(error))
    return re.sub(r"0x[0-9a-f]+", "", _write(answer))


def _write(value: Any) -> str:
    if is_dataclass(value) and not isinstance(value, type):
        return _write({name: getattr(value, name) for name in value.__dataclass_fields__})
    if hasattr(value, "tolist"):
        return repr(value.tolist())
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_write(name)}: {_write(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_write, value)) + "]"
    return repr(value)


@pytest.mark.parametrize("way", WAYS)
def test_a_figure_is_the_same_whatever_the_grades_that_the_lead_may_still_give(
    worlds: Pair, way: str
) -> None:
    one, other = worlds
    shown = show(one, one.lea, way)
    assert shown == show(other, other.lea, way)
    assert not set(one.open) & one.list_seen(one.lea), "nothing was taken from what the lead may still judge"
    if way not in SAME_FOR_ALL:
        assert show(one, one.boss, way) != show(other, other.boss, way), "this way depends on the grades"


def count_blind(world: Figures, reader: Actor) -> int:
    with world.database.read() as session:
        return len(list_blind_pairs(session, world.dataset_pk, reader.person_id))


def test_a_lead_who_gives_the_pairs_up_sees_complete_figures_and_judges_none_of_them(worlds: Pair) -> None:
    one, _ = worlds
    assert give_up_blind_pairs(one.database, one.lea, "d", now=one.now) == len(one.open) + 1
    assert count_blind(one, one.lea) == 0
    figures = [
        compute_agreement(one.database, who, "d", resamples=0).as_json() for who in (one.lea, OPERATOR)
    ]
    assert figures[0] == figures[1]
    assert len(evaluate(one, one.lea).evaluation.table.query_ids) == QUERIES
    with one.database.read() as session:
        seen = session.scalars(
            select(col(DisclosureRow.pair_pk)).where(DisclosureRow.person_pk == one.lea.person_id)
        )
        assert set(one.open) <= set(seen)
    with pytest.raises(AnnotatorError):
        give_up_blind_pairs(one.database, one.ann, "d", now=one.now)


def test_what_is_left_out_is_counted_and_nothing_is_left_out_for_others(worlds: Pair) -> None:
    one, _ = worlds
    assert count_blind(one, one.lea) == len(one.open) + 1
    assert not count_blind(one, one.boss)
    assert not count_blind(one, OPERATOR)
    report = compute_agreement(one.database, one.lea, "d", resamples=0)
    assert report.as_json()["pairs_you_may_still_judge"] == len(one.open) + 1
    assert "pairs_you_may_still_judge" not in compute_agreement(one.database, one.boss, "d").as_json()
    described = write_json(one, one.lea)
    assert isinstance(described, dict) and described["queries_you_may_still_judge"] == QUERIES // 2 + 1
    assert "4 queries with pairs that you may still judge are left out" in described["sentences"][0]
    assert [len(evaluate(one, who).evaluation.table.query_ids) for who in (one.lea, one.boss)] == [2, 6]


def test_the_columns_and_the_states_of_pairs_leave_out_the_same(worlds: Pair) -> None:
    one, _ = worlds
    with one.database.read() as session:
        blind = list_blind_pairs(session, one.dataset_pk, one.lea.person_id)
        assert blind == {*one.open, one.drawn_pair}
        settled = read_settlements(session, one.dataset_pk, blind)
        columns = dict(
            zip(
                settled.pair.tolist(),
                [settled.settlements[at] for at in settled.settlement.tolist()],
                strict=True,
            )
        )
        states = {
            state.pair_pk: state.settlement for state in iterate_pair_states(session, one.dataset_pk, blind)
        }
    assert columns == states
    assert {pk for pk, settlement in columns.items() if settlement.status == "unjudged"} == blind


def test_a_judgment_that_arrives_changes_no_figure_of_a_lead_who_may_still_judge_the_pair(
    worlds: Pair,
) -> None:
    """The same figure before and after a judgment would tell the judgment."""
    one, other = worlds
    for world, grade in ((one, 0), (other, 3)):
        world.later(minutes=1)
        world.judge_as(world.bea, world.open[3], grade)
    for way in (
        "agreement by an own column",
        "evaluation by an own column",
        "overview",
        "pool, depth",
        "queue",
    ):
        assert show(one, one.lea, way) == show(other, other.lea, way), way


class Browser:
    """The files of the pages Agreement and Evaluation, with somebody signed in."""

    def __init__(self, database: Database) -> None:
        files = {
            "agreement": ("figures", "pairs", "left-out", "since"),
            "evaluation": ("figures", "scores", "report"),
        }
        self.app = Starlette(
            routes=[
                route
                for slice_, names in files.items()
                for route in list_late_routes(database, slice_, names)
            ],
            exception_handlers=EXCEPTION_HANDLERS,
        )
        self.actor: Actor | None = None
        self.client = TestClient(self._serve)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self.actor is not None
        signed_in = SignedIn(self.actor, self.actor.username, (), False, NOW)
        scope["state"] = {**scope.get("state", {}), "signed_in": signed_in}
        assert Request(scope).method == "GET"
        await self.app(scope, receive, send)

    def get(self, actor: Actor, path: str, parameters: dict[str, str]) -> str:
        self.actor = actor
        answer = self.client.get(path, params={"dataset": "d", **parameters})
        return f"{answer.status_code} {answer.text}"


FILES = {
    "/api/agreement/figures": [{"table": "grades"}, {"table": "groups", "by": OWN}],
    "/api/agreement/since": [{"version": "1"}],
    "/api/evaluation/figures": [{"table": table, "by": OWN} for table in ("scores", "groups", "queries")],
    "/api/evaluation/scores": [{"by": "narrative"}, {"by": OWN}],
    "/api/evaluation/report": [{"by": OWN}, {"system": "only0", "by": "narrative"}],
}


def test_a_kept_figure_of_one_lead_is_not_sent_to_another(worlds: Pair) -> None:
    """boss reads every file first, so that the server keeps figures of all pairs."""
    one, other = worlds
    browsers = Browser(one.database), Browser(other.database)
    for path, every in FILES.items():
        for parameters in every:
            whole = [
                browser.get(world.boss, path, parameters)
                for browser, world in zip(browsers, worlds, strict=True)
            ]
            sent = [
                browser.get(world.lea, path, parameters)
                for browser, world in zip(browsers, worlds, strict=True)
            ]
            assert sent[0] == sent[1], (path, parameters)
            if path != "/api/agreement/since":
                assert whole[0] != whole[1] and whole[0].startswith("200"), (path, parameters)


def test_a_command_as_a_person_leaves_out_what_the_person_may_still_judge(
    worlds: Pair, tmp_path: Path
) -> None:
    one, _ = worlds
    for world in worlds:
        world.judge_as(world.lea, world.answered, None, outcome="later")
    calls = (
        ["agreement", "d", "--by", OWN, "--json"],
        ["evaluate", "d", "--group-by", OWN, "--measures", MEASURES[0], "--json"],
        ["evaluate", "d", "--by", "query", "--measures", MEASURES[0], "--json"],
        ["qc", "status", "d"],
        ["disagreements", "d"],
    )
    for call in calls:
        said = {
            who: [
                CliRunner().invoke(commands, [*call, "--as", who, "--database", world.url]).output
                for world in worlds
            ]
            for who in ("lea", "boss")
        }
        assert said["lea"][0] == said["lea"][1], call
    assert not set(one.open) & one.list_seen(one.lea)


def test_a_report_that_names_relevant_documents_records_only_what_it_shows(worlds: Pair) -> None:
    one, _ = worlds
    record_shown_grades(one.database, one.lea, "d", now=one.now)
    assert not {*one.open, one.drawn_pair} & one.list_seen(one.lea)


def test_a_lead_who_asks_for_the_origin_of_a_pair_no_longer_judges_it(worlds: Pair) -> None:
    one, _ = worlds
    key = one.keys[one.open[0]]
    hidden = show_pair(one.database, one.lea, "d", key, now=one.now)
    assert (hidden.pair.hidden, hidden.pair.status, hidden.pair.provenance) == (True, "", ())
    assert (hidden.stratum, hidden.inclusion) == (None, None)
    name = one.name(one.open[0])
    (listed,) = list_pair_page(one.database, one.lea, "d", PairFilter(text=name)).pairs
    for reader, total in ((one.lea, 0), (one.boss, 1), (OPERATOR, 1)):
        page = list_pair_page(one.database, reader, "d", PairFilter(system="bm25", text=name))
        assert (page.total, len(page.pairs)) == (total, total), "the filter would tell the system"
    assert (listed.hidden, listed.status, listed.provenance) == (True, "", ())
    shown = show_pair(one.database, one.lea, "d", key, reveal=True, now=one.now)
    assert shown.pair.provenance and shown.pair.status
    assert one.open[0] in one.list_seen(one.lea)
    assert list_pair_page(one.database, one.lea, "d", PairFilter(system="bm25", text=name)).total == 1
    assert count_blind(one, one.lea) == len(one.open)


def test_a_lead_who_lowers_the_overlap_gives_up_the_pairs_that_lack_nothing_then(worlds: Pair) -> None:
    """Otherwise one lead lowers it, reads the figures of all pairs, raises it again and judges the pairs."""
    one, _ = worlds
    describe_effects(one.database, one.lea, "d", {"overlap": "2"}, now=one.now)
    assert not set(one.open) & one.list_seen(one.lea)
    for overlap in ("2", "3"):
        change_settings(one.database, one.lea, "d", {"overlap": overlap}, now=one.now)
        assert set(one.open) - {one.answered} <= one.list_seen(one.lea)
    with one.database.read() as session:
        left = list_to_judge(session, one.lea.person_id, one.open)
    assert left == {one.answered}


def test_publishing_checks_all_pairs_and_records_those_that_the_lead_could_still_judge(
    worlds: Pair, tmp_path: Path
) -> None:
    """A gate that refuses or not tells something of every pair, since leads choose what it requires."""
    one, _ = worlds
    with pytest.raises(GateNotMet):
        publish_release(one.database, one.lea, "d", "1.0.0", exports_dir=tmp_path, now=one.now)
    assert {*one.open, one.drawn_pair} <= one.list_seen(one.lea)


def check_judgments(world: Figures, actor: Actor, name: str) -> None:
    lines = f"query_id,doc_id,annotator,grade\n{name},ann,1\n"
    _import(import_judgments, world, actor, lines, "csv")


def check_qrels(world: Figures, actor: Actor, name: str) -> None:
    _import(import_qrels, world, actor, f"query_id,doc_id,grade\n{name},1\n", "csv")


def _import(read: Callable[..., object], world: Figures, actor: Actor, lines: str, suffix: str) -> None:
    with NamedTemporaryFile("w", suffix=f".{suffix}", encoding="utf-8") as file:
        file.write(lines)
        file.flush()
        read(world.database, actor, "d", Path(file.name), now=world.now, dry_run=True)


def check_decisions(world: Figures, actor: Actor, name: str) -> None:
    data = f"query_id,doc_id,grade,rationale\n{name},1,§\n".encode()
    with suppress(BadInput):
        adjudicate_file(world.database, actor, "d", data, "x.csv", dry_run=True, now=world.now)


def check_checks(world: Figures, actor: Actor, name: str) -> None:
    data = f"query_id,doc_id,kind,grade,explanation\n{name},gold,1,\n".encode()
    import_checks(world.database, OPERATOR, "d", data, "x.csv", now=world.now)
    import_checks(world.database, actor, "d", data, "x.csv", dry_run=True, now=world.now)


@pytest.mark.parametrize("check", [check_decisions, check_judgments, check_qrels, check_checks])
def test_a_file_that_is_only_checked_records_its_pairs(
    worlds: Pair, check: Callable[[Figures, Actor, str], None]
) -> None:
    """The answer says which grades are stored already: four files tell the grade of a pair."""
    one, _ = worlds
    check(one, one.lea, f"Q3,문서/{one.name(one.open[0])}")
    assert one.list_seen(one.lea) & set(one.open) == {one.open[0]}
    with suppress(NotAllowed):  # a person decides
        check(one, OPERATOR, f"Q3,문서/{one.name(one.open[1])}")
    assert one.list_seen(one.lea) & set(one.open) == {one.open[0]}


def test_a_release_that_can_tell_grades_is_withheld_until_the_lead_gives_its_pairs_up(worlds: Pair) -> None:
    one, _ = worlds
    assert count_withheld(one.database, one.lea, "d", "0.1.0") == len(one.open) + 1
    assert count_withheld(one.database, one.boss, "d", "0.1.0") == 0
    assert count_withheld(one.database, OPERATOR, "d", "0.1.0") == 0
    note_release(one.database, one.lea, "d", "0.1.0", now=one.now)
    assert count_withheld(one.database, one.lea, "d", "0.1.0") == 0
    assert set(one.open) <= one.list_seen(one.lea)


class GoldFigures(QualityWorld):
    """ann answered twelve gold pairs with 1, and all pairs of `d` are settled. lea, who marked none of them, leads."""

    def __init__(self, database: Database, *, right: int) -> None:
        super().__init__(database, queries=QUERIES, documents=DOCUMENTS)
        self.gold = list(self.keys)[:12]
        lines = "".join(f"Q{self.name(pk)[0]},문서/{self.name(pk)},gold,{right},\n" for pk in self.gold)
        header = "query_id,doc_id,kind,grade,explanation\n"
        import_checks(database, OPERATOR, "d", (header + lines).encode(), "checks.csv", now=self.now)
        for pk in self.gold:
            self.judge_as(self.ann, pk, 1, purpose="gold")
        note_seen(database, list(self.keys)[12:], self.lea.person_id, now=self.now)


class EasyGold(GoldFigures):
    def __init__(self, database: Database) -> None:
        super().__init__(database, right=1)


class HardGold(GoldFigures):
    def __init__(self, database: Database) -> None:
        super().__init__(database, right=3)


def test_shares_of_right_gold_answers_leave_out_what_the_lead_was_not_shown(copy_world: CopyWorld) -> None:
    easy, hard = copy_world(EasyGold), copy_world(HardGold)

    def measure(world: GoldFigures, actor: Actor) -> Any:
        return compute_agreement(world.database, actor, "d", resamples=0).as_json()

    def stamp(world: GoldFigures, actor: Actor) -> Any:
        return read_stamp(world.database, actor, "d")

    assert measure(easy, OPERATOR) != measure(hard, OPERATOR), "the right grades are in the figures"
    assert measure(easy, easy.lea) == measure(hard, hard.lea)
    assert measure(easy, easy.lea)["pairs_you_may_still_judge"] == len(easy.gold)
    assert not set(easy.gold) & easy.list_seen(easy.lea)
    before = stamp(hard, hard.lea)
    assert before.reader == hard.lea.person_id, "no other lead gets these figures"
    note_seen(hard.database, hard.gold[:1], hard.lea.person_id, now=hard.now)
    assert stamp(hard, hard.lea).changes != before.changes
    assert give_up_blind_pairs(hard.database, hard.lea, "d", now=hard.now) == len(hard.gold) - 1
    assert measure(hard, hard.lea) == measure(hard, OPERATOR)
    assert set(hard.gold) <= hard.list_seen(hard.lea)


def test_a_lead_without_a_pair_to_judge_sees_the_figures_of_the_operator(worlds: Pair) -> None:
    one, _ = worlds
    for way in ("agreement by an own column", "evaluation by an own column", "pool, depth", "overview"):
        assert show(one, one.boss, way) == show(one, OPERATOR, way), way


def answer(world: Figures, pk: int, grade: int) -> tuple[str, ...]:
    """Lea answers a pair; the codes of what is refused are returned."""
    world.later(minutes=1)
    return tuple(event.code for event in world.send(world.lea, world.event(world.keys[pk], grade)).refused)


def test_a_lead_may_change_an_answer_until_figures_with_the_pair_are_shown(worlds: Pair) -> None:
    one, _ = worlds
    before = compute_agreement(one.database, one.lea, "d", resamples=0).measured.pairs
    assert answer(one, one.open[1], 2) == answer(one, one.open[1], 3) == ()
    assert compute_agreement(one.database, one.lea, "d", resamples=0).measured.pairs == before
    keep_answers(one.database, one.lea, "d", now=one.now)
    assert one.list_seen(one.lea) & set(one.open) == {one.open[1], one.answered}
    assert compute_agreement(one.database, one.lea, "d", resamples=0).measured.pairs == before + 2
    assert answer(one, one.open[1], 1) == ("disclosed",)
    assert answer(one, one.answered, 1) == ("disclosed",)
    assert answer(one, one.open[2], 1) == ()
    with one.database.read() as session:
        kept = session.get_one(CurrentJudgmentRow, (one.open[1], one.lea.person_id))
        assert (kept.outcome, kept.grade) == ("graded", 3)


def test_a_lead_may_change_an_answer_to_a_check_until_figures_with_the_pair_are_shown(worlds: Pair) -> None:
    one, _ = worlds
    assert answer(one, one.drawn_pair, 0) == answer(one, one.drawn_pair, 1) == ()
    assert count_blind(one, one.lea) == len(one.open) + 1
    keep_answers(one.database, one.lea, "d", now=one.now)
    assert answer(one, one.drawn_pair, 2) == ("disclosed",)


def test_a_command_as_a_person_keeps_the_answers_of_the_person(worlds: Pair) -> None:
    one, _ = worlds
    CliRunner().invoke(commands, ["disagreements", "d", "--as", "ann", "--database", one.url])
    assert not one.list_seen(one.ann)
    CliRunner().invoke(commands, ["agreement", "d", "--as", "lea", "--database", one.url])
    assert one.list_seen(one.lea) & set(one.open) == {one.answered}


def test_only_leads_keep_their_answers(worlds: Pair) -> None:
    one, _ = worlds
    with pytest.raises(NotAllowed):
        keep_answers(one.database, one.ann, "d", now=one.now)
    assert not one.list_seen(one.ann)
    keep_answers(one.database, OPERATOR, "d", now=one.now)


def test_the_pages_that_show_leads_grades_keep_their_answers_and_the_first_page_does_not() -> None:
    assert {page.address for page in PAGES if page.shows_figures} == {
        "agreement",
        "disagreements",
        "quality",
        "evaluation",
        "releases",
        "pool",
        "calibration",
    }
