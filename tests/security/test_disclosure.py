"""Grades leave the server on record only: who was shown what others said of a pair is never handed that pair again.

Every way is tried with a lead who judges too: by every page's service, every file and every command. What a way shows is read
from what it gives back: the pairs whose documents it names. docs/security.md lists the ways; a way that it does not name fails here.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pytest
from sqlalchemy import event, select
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from typer.testing import CliRunner

from annotator.adjudication.bulk.bulk_service import (
    adjudicate_file,
    export_queue,
    preview_policy,
    settle_by_policy,
)
from annotator.adjudication.disagreement_records import DisagreementView
from annotator.adjudication.discussion.discussion_service import list_own_decisions, list_own_discussions
from annotator.adjudication.history.history_service import (
    iterate_audit_log,
    read_audit_log,
    read_pair_history,
)
from annotator.adjudication.queue.queue_records import QueueFilter
from annotator.adjudication.queue.queue_service import find_disagreements, list_queue
from annotator.adjudication.service import (
    adjudicate,
    assign_disagreement,
    hand_out_disagreements,
    show_disagreement,
    show_origin,
)
from annotator.agreement.records import PairSelection
from annotator.agreement.service import (
    compute_consensus,
    iterate_left_out_judgments,
    iterate_selected_pairs,
    list_selected_pairs,
)
from annotator.audit.records import AuditFilter
from annotator.audit.service import iterate_audit_log as audit_log_of_the_installation
from annotator.cli.main import app as commands
from annotator.dataset.service import change_settings
from annotator.domain.errors import AnnotatorError, NotAllowed, NotFound, StateError
from annotator.domain.people import OPERATOR, Actor, SignedIn
from annotator.evaluation.rankings_service import QueryRankings, compare_on_releases, show_query_rankings
from annotator.formats.input_tables import read_relation_lines
from annotator.guideline.feedback_service import list_decisions_behind, list_worklist
from annotator.importing.runs.runs_service import import_run
from annotator.labeling.calibration_service import compute_results, find_candidates, list_checks, set_check
from annotator.labeling.service import list_judgments
from annotator.pooling.analysis.pool_analysis import PairFilter
from annotator.pooling.analysis.pool_analysis_service import list_pair_page, show_pair
from annotator.pooling.suggestions.suggestion_rules import SuggestionReport, read_rules
from annotator.pooling.suggestions.suggestions_service import (
    StoredSuggestion,
    add_relation_suggestions,
    report_suggestions,
    suggest_from,
)
from annotator.quality.service import draw_sample, show_quality
from annotator.releases.published_service import browse_qrels, compare_releases, note_downloaded, trace_qrel
from annotator.releases.service import preview_release
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.logs.disclosures import note_seen
from annotator.storage.lookup import key_of
from annotator.storage.tables.central import PairRow
from annotator.storage.tables.releases import ReleaseQrelRow, ReleaseRow
from annotator.web.adjudication import downloads as adjudication_downloads
from annotator.web.app import make_app
from annotator.web.downloads import list_late_routes
from annotator.web.navigation import PAGES
from annotator.web.pooling import api as pooling_api
from annotator.web.quality import downloads as quality_downloads
from annotator.web.server.refusals import EXCEPTION_HANDLERS
from tests.databases import CopyWorld
from tests.integration.labeling_world import NOW
from tests.integration.quality_world import QualityWorld

DOCS = Path(__file__).parents[2] / "docs" / "security.md"
EVERYTHING = QueueFilter(shown="all")


class Looked(QualityWorld):
    """`d` with 24 pairs: most are agreed upon, some are disagreements, decided, published, errors of quality control, or gold.
    lea leads, and has a role by which she judges too; nobody has shown her anything."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, queries=4, documents=6)
        pks = list(self.keys)
        self.disputed, self.decided, self.error, self.gold = pks[1:5]
        self.taste = pks[10]
        for pk in (self.disputed, self.decided):
            self.judge_as(self.bea, pk, (self.grades[pk] + 2) % 4)
        self.judge_as(self.bea, self.taste, 3)
        self.boss = self.person("boss", "lead")
        self.decide(self.decided)
        set_check(
            database, OPERATOR, "d", self.keys[self.gold], kind="gold", grade=1, explanation="", now=self.now
        )
        self._find_error()
        self._publish()

    def decide(self, pk: int) -> None:
        seen = show_disagreement(self.database, self.boss, "d", self.keys[pk], now=self.now).seen
        adjudicate(
            self.database, self.boss, "d", self.keys[pk], grade=2, rationale="§17", seen=seen, now=self.now,
            cause="guideline_gap", in_guideline=True,
        )  # fmt: skip

    def _find_error(self) -> None:
        self.draw("cho", rate=1.0)
        self.check(self.error, (self.grades[self.error] + 1) % 4)

    def _publish(self) -> None:
        """Two releases of the first ten pairs, a grade apart, directly in storage."""
        with self.database.write() as session:
            for index, version in enumerate(("1.0.0", "2.0.0")):
                manifest = {"scale": [], "guideline_version": 1}
                release = ReleaseRow(
                    dataset_pk=self.dataset_pk, version=version, created_at=self.now, content_sha256=version, sums="",
                    manifest=manifest, note="",
                )  # fmt: skip
                session.add(release)
                session.flush()
                for at, pk in enumerate(list(self.keys)[6:10]):
                    query_id, doc_id = f"Q{self.name(pk)[0]}", f"문서/{self.name(pk)}"
                    grade = (self.grades[pk] + index) % 4
                    session.add(
                        ReleaseQrelRow(
                            release_pk=key_of(release.pk), position=at, query_id=query_id, doc_id=doc_id, grade=grade,
                            origin="unanimous", judgments="",
                        )
                    )  # fmt: skip

    def list_named(self, shown_text: str) -> set[int]:
        """The pairs that a text names, by their document or their key."""
        return {
            pk
            for pk, key in self.keys.items()
            if key in shown_text or re.search(rf"문서/{self.name(pk)}(?!\d)", shown_text)
        }

    def list_handed(self, actor: Actor) -> set[int]:
        """Every pair that ordinary labeling would hand out when everybody is to judge everything."""
        with self.database.write() as session:
            for row in session.scalars(select(PairRow)):
                row.wanted, row.lacking = 20, 20
        change_settings(self.database, OPERATOR, "d", {"overlap": "20"}, now=self.now)
        handed = self.send(actor, want=50).pairs
        return {self.pks[pair.pair] for pair in handed if pair.pair in self.pks}

    def list_drawn(self, actor: Actor) -> set[int]:
        """Every pair that quality control would draw for this person."""
        options = {"annotator": actor.username, "rate": 1.0, "new_round": True, "now": self.now}
        try:
            made = draw_sample(self.database, OPERATOR, "d", **options)  # type: ignore[arg-type]
        except StateError:  # they can check none of them
            return set()
        return set(self.drawn(made.number))


@pytest.fixture
def world(copy_world: CopyWorld) -> Looked:
    return copy_world(Looked)


Way = Callable[[Looked, Actor], Any]


def _settle(world: Looked, lead: Actor) -> None:
    arguments = (world.database, lead, "d", "median", QueueFilter(taste=True))
    seen = preview_policy(*arguments, now=world.now).digest
    settle_by_policy(*arguments, rationale="§", seen_digest=seen, now=world.now)


def _drop_untold(view: DisagreementView) -> DisagreementView:
    """Without the neighbours that it names and of which it tells no grade."""
    return replace(
        view, neighbours=tuple(neighbour for neighbour in view.neighbours if neighbour.grade is not None)
    )


def _decide_file(world: Looked, lead: Actor) -> str:
    lines = f"query_id,doc_id,grade,rationale\nQ0,문서/{world.name(world.disputed)},1,§\n"
    adjudicate_file(world.database, lead, "d", lines.encode(), "x.csv", now=world.now)
    return lines


def _show_rankings(world: Looked, lead: Actor, version: str | None = None) -> list[object]:
    """Without the documents in the lists of which it tells no grade."""
    _import_ranking(world)
    rankings = show_query_rankings(world.database, lead, "d", "Q1", version=version, depth=50, now=world.now)
    return _list_graded(rankings)


def _list_graded(rankings: QueryRankings) -> list[object]:
    results = [*(result for results in rankings.systems.values() for result in results), *rankings.missed]
    return [result for result in results if result.grade is not None]


def _compare_on_releases(world: Looked, lead: Actor) -> object:
    _import_ranking(world)
    return compare_on_releases(
        world.database, lead, "d", "1.0.0", "2.0.0", measures=("ERR@10",), now=world.now
    )


def _import_ranking(world: Looked) -> None:
    """A run that lists every document of every query."""
    lines = "".join(
        f"Q{world.name(pk)[0]} Q0 문서/{world.name(pk)} {at} {100 - at} bm25\n"
        for at, pk in enumerate(world.keys, start=1)
    )
    with NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write(lines)
        file.flush()
        import_run(world.database, OPERATOR, "d", Path(file.name), now=world.now)


def _report_suggestions(world: Looked, lead: Actor) -> SuggestionReport:
    """Rules suggested the pairs of the last query, because of its first."""
    with world.database.write() as session:
        start, *others = list(world.keys)[18:24]
        rows = [
            StoredSuggestion(pk, "decree", "decree", 2, (f"문서/{world.name(start)}",), (world.keys[start],))
            for pk in others
        ]
        add_relation_suggestions(session, rows, now=world.now)
    return report_suggestions(world.database, lead, "d", now=world.now)


WAYS: dict[str, Way] = {
    "pairs behind a figure": lambda w, a: list_selected_pairs(
        w.database, a, "d", PairSelection(), limit=50, now=w.now
    ),
    "pairs behind a figure, by grade": lambda w, a: list_selected_pairs(
        w.database, a, "d", PairSelection("given", ("ann",), grade=2), limit=50, now=w.now
    ),
    "pairs behind a figure, whole": lambda w, a: list(
        iterate_selected_pairs(w.database, a, "d", PairSelection("differing"), now=w.now)
    ),
    "judgments left out": lambda w, a: list(
        iterate_left_out_judgments(w.database, a, "d", "revised", now=w.now)
    ),
    "consensus": lambda w, a: compute_consensus(w.database, a, "d", now=w.now),
    "queue": lambda w, a: list_queue(w.database, a, "d", EVERYTHING, now=w.now),
    "disagreements": lambda w, a: find_disagreements(w.database, a, "d", now=w.now),
    "file for a meeting": lambda w, a: b"".join(
        export_queue(w.database, a, "d", EVERYTHING, now=w.now)
    ).decode(),
    "case": lambda w, a: _drop_untold(show_disagreement(w.database, a, "d", w.keys[w.disputed], now=w.now)),
    "cases": lambda w, a: [
        _drop_untold(disagreement)
        for disagreement in hand_out_disagreements(
            w.database, a, "d", want=3, tab="t", now=w.now
        ).disagreements
    ],
    "names": lambda w, a: (
        show_origin(w.database, a, "d", w.keys[w.disputed], now=w.now),
        w.keys[w.disputed],
    ),
    "trail": lambda w, a: read_audit_log(w.database, a, "d", now=w.now),
    "trail, whole": lambda w, a: list(iterate_audit_log(w.database, a, "d", now=w.now)),
    "story of a pair": lambda w, a: (
        read_pair_history(w.database, a, "d", w.keys[w.decided], now=w.now),
        w.keys[w.decided],
    ),
    "errors of quality control": lambda w, a: show_quality(w.database, a, "d", now=w.now).errors,
    "checks": lambda w, a: list_checks(w.database, a, "d", now=w.now),
    "results of checks": lambda w, a: compute_results(w.database, a, "d", now=w.now),
    "candidates for checks": lambda w, a: find_candidates(w.database, a, "d", limit=50, now=w.now),
    "candidates for checks, found": lambda w, a: find_candidates(
        w.database, a, "d", words="문서/1", limit=50, now=w.now
    ),
    "lessons": lambda w, a: list_worklist(w.database, a, "d", now=w.now),
    "decisions behind a version": lambda w, a: list_decisions_behind(w.database, a, "d", now=w.now),
    "qrels of a release": lambda w, a: browse_qrels(w.database, a, "d", "1.0.0", now=w.now),
    "releases compared": lambda w, a: compare_releases(w.database, a, "d", "1.0.0", "2.0.0", now=w.now),
    "preview of a release": lambda w, a: preview_release(w.database, a, "d", now=w.now),
    "trace of a qrel": lambda w, a: trace_qrel(w.database, a, "d", "1.0.0", "Q1", "문서/1-0", now=w.now),
    "files of a release": lambda w, a: (
        note_downloaded(w.database, a, "d", "1.0.0", now=w.now),
        "문서/1-0 문서/1-1 문서/1-2 문서/1-3",
    ),
    "ranked lists of a query": _show_rankings,
    "ranked lists of a query, published": lambda w, a: _show_rankings(w, a, "1.0.0"),
    "releases compared on the same runs": _compare_on_releases,
    "suggestions by relations": lambda w, a: _report_suggestions(w, a).pairs,
    "decisions from a file": _decide_file,
    "policy": lambda w, a: (_settle(w, a), w.keys[w.taste]),
}


@pytest.mark.parametrize("way", WAYS)
def test_who_was_shown_grades_of_a_pair_is_never_handed_it(world: Looked, way: str) -> None:
    shown = world.list_named(repr(WAYS[way](world, world.lea)))
    assert shown or way in ("decisions behind a version", "results of checks"), "this test shows something"
    assert shown <= world.list_seen(world.lea)
    assert not shown & world.list_drawn(world.lea), "qc draw"
    assert not shown & world.list_handed(world.lea), "ordinary labeling"


def test_who_was_shown_nothing_is_handed_and_drawn_everything(world: Looked) -> None:
    assert len(world.list_drawn(world.lea)) >= 20
    assert world.list_handed(world.lea) == set(world.keys) - {world.gold}


@pytest.mark.parametrize("way", WAYS)
def test_an_annotator_gets_nothing_on_any_of_these_ways(world: Looked, way: str) -> None:
    with pytest.raises(NotAllowed):
        WAYS[way](world, world.cho)
    assert not world.list_seen(world.cho) - {world.error}


@pytest.mark.parametrize("way", WAYS)
def test_of_a_pair_that_a_lead_has_still_to_judge_nothing_is_told_or_it_leaves_their_work(
    world: Looked, way: str
) -> None:
    with world.database.write() as session:
        for row in session.scalars(select(PairRow)):
            row.lacking = 1
    try:
        shown_text = repr(WAYS[way](world, world.lea))
    except AnnotatorError:
        return  # nothing is told
    assert not (world.list_named(shown_text) - world.list_seen(world.lea)) & world.list_handed(world.lea) - (
        _list_without_grade(way, world)
    )


def _list_without_grade(way: str, world: Looked) -> set[int]:
    """A search for pairs to mark names pairs and tells no grade of those still to be judged."""
    return set(world.keys) if way.startswith("candidates") else set()


def test_a_candidate_that_the_lead_has_still_to_judge_tells_no_grade(world: Looked) -> None:
    with world.database.write() as session:
        for row in session.scalars(select(PairRow)):
            row.lacking = 1
    candidates = find_candidates(world.database, world.lea, "d", words="문서/1", limit=50, now=world.now)
    assert candidates and all(
        (item.status, item.grade, item.judged, item.hidden) == ("", None, 0, True) for item in candidates
    )
    assert not world.list_seen(world.lea)


def test_by_assigning_a_pair_a_lead_who_may_still_judge_it_learns_nobody_who_judged_it(world: Looked) -> None:
    world.judge_as(world.boss, world.disputed, 1)
    with world.database.write() as session:
        for row in session.scalars(select(PairRow)):
            row.lacking = 1

    def assign(to: str) -> None:
        key = world.keys[world.disputed]
        assign_disagreement(world.database, world.lea, "d", key, to=to, now=world.now)

    for to in ("boss", "lea"):
        with pytest.raises(StateError, match="You may still judge this pair"):
            assign(to)
    assert not world.list_seen(world.lea)
    note_seen(world.database, [world.disputed], world.lea.person_id, now=world.now)
    with pytest.raises(NotAllowed, match="boss has judged this pair"):
        assign("boss")
    (looked,) = [
        event
        for event in read_audit_log(world.database, world.boss, "d", now=world.now).events
        if event.action == "looked up names"
    ]
    assert (looked.username, looked.after) == ("lea", {"annotators": ["boss"], "pairs": 1})
    assign("lea")


def test_that_a_release_has_no_qrel_of_a_pair_is_recorded_as_seen_too(world: Looked) -> None:
    pk = next(iter(world.keys))
    with pytest.raises(NotFound, match=r"d 1\.0\.0 has no qrel for query"):
        trace_qrel(
            world.database,
            world.lea,
            "d",
            "1.0.0",
            f"Q{world.name(pk)[0]}",
            f"문서/{world.name(pk)}",
            now=world.now,
        )
    assert world.list_seen(world.lea) == {pk}


def test_of_suggestions_that_a_lead_has_still_to_judge_only_the_number_is_told(world: Looked) -> None:
    with world.database.write() as session:
        for row in session.scalars(select(PairRow)):
            row.lacking = 1
    report = _report_suggestions(world, world.lea)
    assert (report.pairs, report.hidden) == ((), 5)
    assert not world.list_seen(world.lea)


def test_an_annotator_is_handed_a_suggested_pair_without_its_rule_and_its_grade(
    world: Looked, tmp_path: Path
) -> None:
    start = next(pk for pk in world.keys if world.grades[pk] == 3 and pk not in (world.disputed, world.error))
    other = next(pk for pk in world.keys if world.name(pk)[0] != world.name(start)[0])
    relations, rules = tmp_path / "relations.csv", tmp_path / "rules.yaml"
    names = [f"문서/{world.name(pk)}" for pk in (start, other)]
    relations.write_text(f"from,to,relation\n{names[0]},{names[1]},위임관계\n", encoding="utf-8")
    rules.write_text("rules:\n- {relation: 위임관계, grade: 2}\n", encoding="utf-8")
    lines = read_relation_lines(relations)
    followed = read_rules(str(rules), (line.relation for line in lines))
    made = suggest_from(world.database, OPERATOR, "d", lines, followed, "relations.csv", now=world.now)
    assert made.new_pairs == 1
    handed = world.send(world.cho, want=50).pairs
    suggested = [pair for pair in handed if pair.pair not in world.pks]
    assert len(suggested) == 1
    for word in ("위임관계", "relation", "suggest"):
        assert word not in repr(handed)
    assert not any(
        isinstance(value, int) and key == "grade" for key, value in _list_values(asdict(suggested[0]))
    )


def _list_values(tree: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield str(key), value
            yield from _list_values(value)
    elif isinstance(tree, list | tuple):
        for value in tree:
            yield from _list_values(value)


def test_a_look_at_what_was_seen_before_writes_nothing(world: Looked) -> None:
    def look() -> None:
        list_selected_pairs(world.database, world.lea, "d", PairSelection(), limit=50, now=world.now)

    look()
    assert _count_writes(world.database, look) == 0


def test_a_whole_file_of_pairs_is_noted_with_one_statement(world: Looked) -> None:
    def take() -> None:
        list(iterate_selected_pairs(world.database, world.lea, "d", PairSelection(), now=world.now))

    assert _count_writes(world.database, take) == 1
    assert len(world.list_seen(world.lea)) > 20


def _count_writes(database: Database, act: Callable[[], object]) -> int:
    writes: list[str] = []

    def note(_conn: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if "INTO disclosure" in statement:
            writes.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        act()
    finally:
        event.remove(database.engine, "before_cursor_execute", note)
    return len(writes)


def test_pairs_behind_a_figure_name_annotators_by_letters_unless_they_were_asked_for(world: Looked) -> None:
    anonymous = list_selected_pairs(
        world.database, world.lea, "d", PairSelection("differing"), limit=50, now=world.now
    )
    disagreement = show_disagreement(
        world.database, world.lea, "d", world.keys[world.disputed], now=world.now
    )
    (shown_pair,) = [pair for pair in anonymous.pairs if pair.pair == world.keys[world.disputed]]
    assert dict(shown_pair.grades) == {judgment.letter: judgment.grade for judgment in disagreement.judgments}
    assert not {"ann", "bea"} & {name for pair in anonymous.pairs for name, _ in pair.grades}
    assert not any(
        event.action == "looked up names"
        for event in read_audit_log(world.database, world.boss, "d", now=world.now).events
    )
    named = list_selected_pairs(
        world.database, world.lea, "d", PairSelection("differing", ("ann",)), limit=50, now=world.now
    )
    assert all("ann" in dict(pair.grades) and "bea" not in dict(pair.grades) for pair in named.pairs)
    (looked,) = [
        event
        for event in read_audit_log(world.database, world.boss, "d", now=world.now).events
        if event.action == "looked up names"
    ]
    assert (looked.username, looked.after) == ("lea", {"annotators": ["ann"], "pairs": named.total})


BY_ANN = QueueFilter(annotators=("ann",), shown="all")
QUEUES: dict[str, Callable[[Looked], object]] = {
    "list": lambda w: list_queue(w.database, w.boss, "d", BY_ANN, now=w.now).items,
    "disagreements": lambda w: find_disagreements(w.database, w.boss, "d", queue_filter=BY_ANN, now=w.now),
    "cases": lambda w: (
        hand_out_disagreements(
            w.database, w.boss, "d", replace(BY_ANN, shown="open"), want=9, now=w.now
        ).disagreements
    ),
}


@pytest.mark.parametrize("way", QUEUES)
def test_a_queue_filtered_by_annotator_tells_who_judged_and_that_is_in_the_audit_log(
    world: Looked, way: str
) -> None:
    shown = QUEUES[way](world)
    assert isinstance(shown, Sequence) and shown
    (looked,) = [
        event
        for event in read_audit_log(world.database, world.boss, "d", now=world.now).events
        if event.action == "looked up names"
    ]
    assert (looked.username, looked.after) == ("boss", {"annotators": ["ann"], "pairs": len(shown)})


@pytest.mark.parametrize("way", ["a page behind the last", "no pair wanted"])
def test_the_length_of_a_queue_filtered_by_annotator_is_in_the_audit_log_too(world: Looked, way: str) -> None:
    if way == "no pair wanted":
        open_by_ann = replace(BY_ANN, shown="open")
        left = hand_out_disagreements(
            world.database, world.boss, "d", open_by_ann, want=0, now=world.now
        ).left
    else:
        left = list_queue(world.database, world.boss, "d", BY_ANN, offset=1_000, now=world.now).total
    looked = [
        event.after
        for event in read_audit_log(world.database, world.boss, "d", now=world.now).events
        if event.action == "looked up names"
    ]
    assert looked == [{"annotators": ["ann"], "pairs": left}]


class Browser:
    """The routes of the files, with somebody signed in."""

    def __init__(self, database: Database, actor: Actor) -> None:
        self.actor = actor
        parts = (
            quality_downloads.routes,
            adjudication_downloads.routes,
            pooling_api.routes,
        )
        self.app = Starlette(
            routes=[route for list_routes in parts for route in list_routes(database)]
            + list_late_routes(database, "agreement", ("figures", "pairs", "left-out", "since")),
            exception_handlers=EXCEPTION_HANDLERS,
        )
        self.client = TestClient(self._serve, headers={"Referer": "http://testserver/"})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        signed_in = SignedIn(self.actor, self.actor.username, (), False, NOW)
        scope["state"] = {**scope.get("state", {}), "signed_in": signed_in}
        await self.app(scope, receive, send)


FILES = {
    "/api/agreement/pairs": {"pairs": "shared"},
    "/api/agreement/left-out": {"kind": "revised"},
    "/api/quality": {"table": "errors"},
    "/api/queue": {},
    "/api/trail": {"format": "csv"},
}


@pytest.mark.parametrize("path", FILES)
def test_a_file_is_for_leads_and_is_noted_only_when_it_is_really_sent(world: Looked, path: str) -> None:
    parameters = {"dataset": "d", **FILES[path]}
    assert Browser(world.database, world.ann).client.get(path, params=parameters).status_code == 403
    lea = Browser(world.database, world.lea).client
    assert lea.get(path, params=parameters, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert lea.head(path, params=parameters).status_code == 200
    assert not world.list_seen(world.lea), (
        "another site, or a look at the headers, takes no pair out of her work"
    )
    answer = lea.get(path, params=parameters)
    assert answer.status_code == 200
    shown = world.list_named(answer.text)
    assert shown and shown <= world.list_seen(world.lea)
    assert list(csv.reader(io.StringIO(answer.text)))
    downloads = AuditFilter(action="file_downloaded")
    entered = list(audit_log_of_the_installation(world.database, OPERATOR, downloads))
    assert [(entry.name("actor"), entry.chained.dataset) for entry in entered] == [("lea", "d")]


def test_what_the_pool_left_out_is_for_leads_and_names_no_grade(world: Looked) -> None:
    path, parameters = "/api/pool/left-out", {"dataset": "d"}
    assert Browser(world.database, world.ann).client.get(path, params=parameters).status_code == 403
    answer = Browser(world.database, world.lea).client.get(path, params=parameters)
    assert answer.status_code == 200
    assert list(csv.reader(io.StringIO(answer.text.removeprefix("\ufeff")))) == [
        ["round", "rule", "query_id", "doc_id", "title", "kept_doc_id"]
    ]
    assert not world.list_seen(world.lea)


def test_the_page_pool_shows_no_grade_of_a_pair_and_so_records_nothing(world: Looked) -> None:
    for pair in list_pair_page(world.database, world.lea, "d", PairFilter()).pairs:
        origin = show_pair(world.database, world.lea, "d", pair.pair, now=world.now)
        assert not {"grade", "grades"} & set(asdict(origin.pair))
        with pytest.raises(NotAllowed):
            show_pair(world.database, world.ann, "d", pair.pair, now=world.now)
    assert not world.list_seen(world.lea)


def test_every_route_page_and_command_is_listed_with_what_it_discloses(
    database: Database, tmp_path: Path
) -> None:
    documentation = DOCS.read_text()
    routes = {route.path for route in _list_routes(make_app(database, Settings(exports_dir=tmp_path)))}
    for path in sorted(routes):
        assert f"`{path}`" in documentation, path
    for page in PAGES:
        assert f"`/{page.address}`" in documentation, page.address
    for name in _list_commands():
        assert f"`{name}`" in documentation, name


def _list_routes(app: Any) -> Iterator[Any]:
    for route in getattr(app, "_user_routes", None) or app.routes:
        if getattr(route, "path", "").startswith(
            ("/api", "/login", "/logout", "/setup", "/join", "/healthz", "/readyz")
        ):
            yield route


def _list_commands() -> Iterator[str]:
    from typer.main import get_command

    def walk(command: Any, name: str) -> Iterator[str]:
        for part, item in getattr(command, "commands", {}).items():
            inner = f"{name} {part}".strip()
            yield from walk(item, inner) if hasattr(item, "commands") else (inner,)

    return walk(get_command(commands), "")


def test_the_command_line_is_the_operator_unless_a_person_is_named(
    world: Looked,
) -> None:
    runner = CliRunner()
    for command in (["judgments", "d"], ["disagreements", "d"], ["trail", "d"], ["qc", "status", "d"]):
        runner.invoke(commands, [*command, "--database", world.url])
    assert list_judgments(world.database, OPERATOR, "d")
    assert not world.list_seen(world.lea)
    runner.invoke(
        commands, ["disagreements", "d", "--as", "lea", "--database", world.url], catch_exceptions=False
    )
    assert world.disputed in world.list_seen(world.lea)


def test_what_annotators_are_shown_of_their_own_pairs_is_noted_too(world: Looked) -> None:
    own_decisions = list_own_decisions(world.database, world.ann, "d", now=world.now)
    shown = world.list_named(repr(own_decisions.decisions))
    assert shown and shown <= world.list_seen(world.ann)
    change_settings(world.database, OPERATOR, "d", {"discuss_from": "1"}, now=world.now)
    assert not list_own_discussions(world.database, world.cho, "d", now=world.now).discussions
    discussions = list_own_discussions(world.database, world.ann, "d", now=world.now).discussions
    assert world.disputed in world.list_named(repr(discussions))
    assert world.list_named(repr(discussions)) <= world.list_seen(world.ann)
