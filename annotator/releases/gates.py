"""The gates of a release (what it needs, what was measured, what a lead overrode), and the counts behind them.

In this order: `kappa` (Cohen's kappa reaches the setting `kappa_target`; unknown is not met), `disagreements`
(none open or reopened by quality control), `overlap` (no pair is short of judgments), `quality_control` (done
and passed), `coverage` (what the dataset declares as required, counted over what the files would hold),
`unjudged_queries` (every query has a settled grade), `relevant` (every judged query has a relevant document,
or is listed as having none), `stale` (nothing rests on an older meaning of the grades or an older text:
decided pairs by their decision, others by every judgment, kept imports never), `ids` (every format can hold
every id; overridden, a release leaves out the formats that cannot). An unmet gate stops a release unless a
lead overrides it by name with a reason, kept in the manifest; an override of a met gate is not kept.
`quality_control` uses the setting `quality_rule`: `bound` is the largest share of errors that the sample
leaves possible, `rate` the share it shows; the text gives both.

Count what a release holds, for the gates and the datasheet, and describe it for the manifest. Pure. Keeps
counts and a few examples, never the pairs. Everything of a release comes from one read transaction, so gates,
qrels and judgments show the same moment while annotators go on judging.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from annotator.agreement.records import AgreementVerdict
from annotator.dataset.records import Coverage, QueryFacts
from annotator.domain.errors import ValidationError
from annotator.domain.grades import RELEVANT_FROM, Rubric
from annotator.domain.ground_truth import Query
from annotator.domain.messages import Message, join_sentences, say, say_n
from annotator.domain.texts import NO_WORDS, check_text
from annotator.quality.records import LIMIT, QualityStatus
from annotator.releases.records import DIGITS, GateOverride, Names, ReleaseGate
from annotator.releases.writing.files import round_numbers

SHOWN = 20


@dataclass(frozen=True, slots=True)
class CountWithExamples:
    """A count with its first 20 examples, each a (query_id, doc_id), in the dataset's order."""

    count: int
    first: Sequence[Names]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSurvey:
    """Figures over a dataset's pairs, counted by `releases/gates_service.py`.

    `uneven`: whether some pairs are judged by another number than `overlap`. `meaning_since`: see `gates.find_meaning_since`.
    `of_query`: the settled grades 0 to 3 by query_pk, for queries with one. `with_open_pairs`: the queries of which a pair waits
    for a lead. `stale_text`: how many of the stale pairs rest on an older text; `stale_both`: also on an older guideline.
    """

    overlap: int
    uneven: bool
    meaning_since: int | None
    statuses: Counter[str]
    by_grade: Counter[int]
    of_query: Mapping[int, tuple[int, int, int, int]]
    with_open_pairs: Collection[int]
    opened: CountWithExamples
    short: CountWithExamples
    stale: CountWithExamples
    stale_text: int
    stale_both: int

    def list_facts(self, queries: Mapping[int, Query]) -> Iterable[QueryFacts]:
        """Return the queries that the files hold, in order, with their settled grades, for the coverage of a release."""
        for query_pk, query in queries.items():
            if query_pk not in self.of_query:
                continue
            yield QueryFacts(query, self.of_query[query_pk], query_pk in self.with_open_pairs)

    def list_without_relevant(self, queries: Mapping[int, Query]) -> list[str]:
        """Return the query_ids with settled grades of 0 only, in the order of queries.

        Queries with an open disagreement are left out: a lead's decision may still find a relevant document.
        """
        return [
            query.query_id
            for query_pk, query in queries.items()
            if query_pk in self.of_query
            and query_pk not in self.with_open_pairs
            and not any(self.of_query[query_pk][RELEVANT_FROM:])
        ]

    def list_without_qrels(self, queries: Mapping[int, Query]) -> list[str]:
        """Return the query_ids without any settled grade."""
        return [query.query_id for query_pk, query in queries.items() if query_pk not in self.of_query]


@dataclass(frozen=True, slots=True)
class ReleaseSurvey:
    """The counts over all pairs of a dataset before a release."""

    pairs: PairSurvey
    queries: Mapping[int, Query]  # by query_pk, in the dataset's order
    coverage: Coverage  # of what the files would hold
    without_qrels: list[str]  # query_ids that no file would hold
    without_relevant: list[str]  # query_ids whose settled grades are all 0
    quality: QualityStatus
    unwritable: Mapping[str, Sequence[str]]  # by format, the ids of settled pairs that it cannot hold


NOTICE = (
    "Some of these judgments were made by simulated annotators, not by people: draw no conclusions from them."
)


@dataclass(frozen=True, slots=True)
class DatasetSnapshot:
    """A dataset at one moment, without its pairs.

    `seed`: the dataset's; it decides the order of documents that nothing else tells apart.
    `counts`: see `content.count_content`. `numbers`: everybody's pseudonym number, by person; `new_numbers`: those
    that this release gives. `simulated`: who of them is not a person. `publisher`: the publishing lead's pseudonym.
    `versions`: the ones published so far, oldest first. `about`: authors, contact, licence and source, None where not said.
    `left_out`: the formats that cannot hold some ids, with the number of these ids; the release has no files of them.
    """

    dataset: str
    seed: int
    list_grade_0: bool
    guideline_version: int
    rubric: Rubric
    counts: Mapping[str, Any]
    gates: tuple[ReleaseGate, ...]
    agreement: Mapping[str, Any]
    numbers: Mapping[int, int]
    new_numbers: Mapping[int, int]
    simulated: frozenset[int]
    publisher: str
    versions: tuple[str, ...]
    about: Mapping[str, str | None] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)


def describe_files(snapshot: DatasetSnapshot, *, version: str, at: datetime) -> dict[str, Any]:
    """Return the metadata of a release for formats that have fields for it."""
    about = {name: text for name, text in snapshot.about.items() if text}
    return {"version": version, "created_at": at.date().isoformat(), **about, **_count_simulated(snapshot)}


def list_scale(rubric: Rubric) -> list[dict[str, Any]]:
    """Return the name and definition of each grade, for the manifest."""
    return [{"grade": item.grade, "name": item.name, "definition": item.definition} for item in rubric.grades]


def describe_release(
    snapshot: DatasetSnapshot,
    *,
    version: str,
    at: datetime,
    note: str,
    content_sha256: str,
    order: Mapping[str, int],
) -> dict[str, Any]:
    """Return the manifest without its list of files, in the order in which people read it.

    `order`: what decided the order of documents (see `write.py`).
    """
    rubric = snapshot.rubric
    return {
        "dataset": snapshot.dataset,
        "version": version,
        "created_at": at.isoformat().replace("+00:00", "Z"),
        "published_by": snapshot.publisher,
        "note": note,
        **snapshot.about,
        **_count_simulated(snapshot),
        "scale": list_scale(rubric),
        "guideline_version": snapshot.guideline_version,
        **({"guideline_languages": list(rubric.languages)} if rubric.translations else {}),
        "previous": snapshot.versions[-1] if snapshot.versions else None,
        "content_sha256": content_sha256,
        "list_grade_0": snapshot.list_grade_0,
        **list_left_out(snapshot),
        "counts": dict(snapshot.counts),
        "order": dict(order),
        "agreement": round_numbers(snapshot.agreement),
        "gates": [gate.as_json() for gate in snapshot.gates],
    }


def list_left_out(snapshot: DatasetSnapshot) -> dict[str, Any]:
    """Return the formats that the release leaves out, for the manifest; nothing if it has all."""
    entries = [{"format": name, "ids": count} for name, count in snapshot.left_out.items()]
    return {"formats_left_out": entries} if entries else {}


def _count_simulated(snapshot: DatasetSnapshot) -> dict[str, Any]:
    return {"simulated": True, "notice": NOTICE} if snapshot.simulated else {}


NAME, DECLARED = "quality_control", "queries_without_relevant"


def check_quality(status: QualityStatus | None) -> ReleaseGate:
    """Check quality control: the verdict by the dataset's rule must be "passed".

    None, or a status without a draw: nothing was checked."""
    if status is None or not status.round:
        why = say("Not done. Draw a sample.")
        return ReleaseGate(NAME, LIMIT, None, False, why=why)
    error_rate = status.rates["any"]
    measured = error_rate.bound if status.rule == "bound" else error_rate.rate
    measured = None if measured is None else round(measured, DIGITS)
    why = describe_sample(status)
    if status.verdict == "passed":
        return ReleaseGate(NAME, LIMIT, measured, True, why=why)
    why = join_sentences((why, _describe_quality_work(status)))
    return ReleaseGate(NAME, LIMIT, measured, False, why=why)


def describe_sample(status: QualityStatus) -> Message:
    """Say what the sample shows and what it proves."""
    error_rate = status.rates["any"]
    if error_rate.rate is None or error_rate.bound is None:
        return say_n(
            "{n:,} pair drawn, none checked yet.",
            "{n:,} pairs drawn, none checked yet.",
            status.drawn,
        )
    return say_n(
        "{n:,} error in {checked:,} checked pairs ({rate:.2%}). Guaranteed maximum (95 %): "
        "{bound:.2%} of all {population:,} pairs.",
        "{n:,} errors in {checked:,} checked pairs ({rate:.2%}). Guaranteed maximum (95 %): "
        "{bound:.2%} of all {population:,} pairs.",
        error_rate.errors,
        checked=error_rate.checked,
        rate=error_rate.rate,
        bound=error_rate.bound,
        population=status.population,
    )


def _describe_quality_work(status: QualityStatus) -> Message:
    if status.verdict == "undecided" and status.waiting:
        return say_n(
            "{n:,} pair is waiting for the checker on the page Label.",
            "{n:,} pairs are waiting for the checker on the page Label.",
            status.waiting,
        )
    if status.verdict == "undecided" and status.further:
        return say("Draw more pairs: {n:,} more without an error would pass.", n=status.further)
    return say("Review the errors, improve the guideline and the grades, then draw a new sample.")


def find_meaning_since(versions: Iterable[tuple[int, str]]) -> int | None:
    """Return the latest guideline version that changed what a grade means; None if it is the first one.

    `versions`: (version, change) of the dataset's rubrics; change is "minor" or "semantic".
    """
    latest = max((version for version, change in versions if change == "semantic"), default=1)
    return latest if latest > 1 else None


def is_stale(
    meaning_since: int | None, *, status: str, judged_under: Iterable[int], decided_under: int | None
) -> bool:
    """Return whether a settled pair rests on an older meaning of the grades.

    `judged_under`, `decided_under`: guideline versions.
    """
    if meaning_since is None:
        return False
    if status == "adjudicated":
        return decided_under is not None and decided_under < meaning_since
    return status in ("unanimous", "single") and any(version < meaning_since for version in judged_under)


def is_on_older_text(status: str, *, judged: bool, decided: bool) -> bool:
    """Return whether a judgment (`judged`) or the decision of a settled pair used an older document text."""
    return decided if status == "adjudicated" else judged and status in ("unanimous", "single")


def describe_stale(stale: int, *, on_text: int, on_both: int, since: int | None) -> Message:
    """Describe what stale pairs rest on, and what to do.

    `on_text`: number of pairs on an older text; `on_both`: of these, also on an older guideline."""
    on_guideline, parts = stale - on_text + on_both, []
    if on_guideline:
        parts.append(
            say_n(
                "{n:,} settled pair was judged before guideline version {since} changed the meaning of a "
                "grade.",
                "{n:,} settled pairs were judged before guideline version {since} changed the meaning of a "
                "grade.",
                on_guideline,
                since=since,
            )
        )
    if on_text:
        parts.append(
            say_n(
                "{n:,} settled pair was judged with an older text of its document.",
                "{n:,} settled pairs were judged with an older text of their documents.",
                on_text,
            )
        )
    return say("{what} Have these pairs judged or decided again.", what=join_sentences(parts))


def compare_gates(
    survey: ReleaseSurvey, requirements: Mapping[str, object] | None, verdict: AgreementVerdict
) -> tuple[ReleaseGate, ...]:
    """Return every gate, in the order in which gates are shown and published. `requirements`: the dataset's."""
    pairs = survey.pairs
    return (
        check_kappa(verdict),
        check_disagreements(pairs.opened.count, pairs.opened.first, reopened=pairs.statuses["reopened"]),
        _check_overlap(pairs),
        check_quality(survey.quality),
        _check_coverage(survey.coverage),
        _check_unjudged_queries(survey.without_qrels),
        _check_relevant(survey.without_relevant, requirements),
        _check_stale(pairs),
        _check_ids(survey.unwritable),
    )


def check_kappa(verdict: AgreementVerdict) -> ReleaseGate:
    """Check kappa by the report's verdict. Unknown is not met; `why` says what would decide it."""
    value = verdict.kappa.value
    measured = None if value is None else round(value, DIGITS)
    if verdict.state == "met":
        return ReleaseGate("kappa", verdict.target, measured, True)
    look = say("See where the annotators differ on the page Agreement.")
    return ReleaseGate("kappa", verdict.target, measured, False, why=join_sentences([verdict.sentence, look]))


def check_disagreements(opened: int, pairs: Sequence[Names] = (), *, reopened: int = 0) -> ReleaseGate:
    """Check that no disagreement is open. `reopened`: how many of them quality control reopened."""
    why = say("Open: {opened:,}. Decide them.", opened=opened)
    if reopened:
        why = say(
            "Open: {opened:,} ({reopened:,} reopened by quality control). Decide them.",
            opened=opened,
            reopened=reopened,
        )
    return _check_none("disagreements", opened, why, pairs)


def override_gates(
    gates: Sequence[ReleaseGate], reasons: Mapping[str, str], *, by: str
) -> tuple[ReleaseGate, ...]:
    """Return the gates with their overrides. Raises ValidationError for an unknown gate, and for no reason or one that is too long."""
    names = [gate.name for gate in gates]
    kept: dict[str, str] = {}
    for name, reason in reasons.items():
        if name not in names:
            raise ValidationError(f"no gate named {name!r}; there are: {', '.join(names)}")
        kept[name] = check_text(say("Override reason for {name}", name=name), reason, empty=NO_WORDS)
    return tuple(
        replace(gate, override=GateOverride(kept[gate.name], by))
        if gate.name in reasons and not gate.met
        else gate
        for gate in gates
    )


def explain(gates: Iterable[ReleaseGate]) -> str:
    """Return what is missing for a release, for people; "" if nothing is."""
    missing = [gate for gate in gates if not gate.met and gate.override is None]
    lines = []
    for gate in missing:
        shown = gate.examples[:SHOWN]
        lines.append(f"- {gate.name}: {gate.why}")
        lines += [f"    {'  '.join(names)}".replace("\n", " ") for names in shown]
        hidden = _count_missing(gate) - len(shown) if shown else 0
        lines += [f"    and {hidden:,} more"] if hidden > 0 else []
    if not lines:
        return ""
    how = " ".join(f"--override {gate.name}=REASON" for gate in missing)
    return "\n".join(
        [
            "The release is not ready to be published:",
            *lines,
            f"To publish anyway, give a reason for each gate: {how}",
        ]
    )


def to_gate(listed: Mapping[str, Any]) -> ReleaseGate:
    """Return a gate from a manifest's entry. Manifests of earlier versions of this program have no `why`."""
    override = listed["override"]
    return ReleaseGate(
        listed["name"],
        listed["required"],
        listed["measured"],
        listed["met"],
        GateOverride(override["reason"], override["by"]) if override else None,
        listed.get("why"),
    )


def _count_missing(gate: ReleaseGate) -> int:
    return int(abs((gate.measured or 0) - gate.required))


def _check_none(name: str, count: int, why: str, examples: Iterable[Names]) -> ReleaseGate:
    if not count:
        return ReleaseGate(name, 0, 0, True)
    return ReleaseGate(name, 0, count, False, why=why, examples=tuple(examples)[:SHOWN])


def _check_overlap(pairs: PairSurvey) -> ReleaseGate:
    why = say_n(
        "{n:,} pair has fewer than {overlap} judgments. It is waiting for annotators on the page Label.",
        "{n:,} pairs have fewer than {overlap} judgments. They are waiting for annotators on the page Label.",
        pairs.short.count,
        overlap=pairs.overlap,
    )
    if pairs.uneven:
        why = say_n(
            "{n:,} pair needs more judgments. It is waiting for annotators on the page Label.",
            "{n:,} pairs need more judgments. They are waiting for annotators on the page Label.",
            pairs.short.count,
        )
    return _check_none("overlap", pairs.short.count, why, pairs.short.first)


def _check_coverage(coverage: Coverage) -> ReleaseGate:
    required, requirements_met = coverage.required, coverage.met
    if not required:
        return ReleaseGate("coverage", 0, 0, True, why=say("No requirements are declared."))
    if requirements_met >= required:
        return ReleaseGate("coverage", required, requirements_met, True)
    why = say_n(
        "{met:,} of {n:,} requirement met by the queries that the release would contain. Judge the others, import "
        "what is missing, or change the requirements on the page Settings.",
        "{met:,} of {n:,} requirements met by the queries that the release would contain. Judge the others, import "
        "what is missing, or change the requirements on the page Settings.",
        required,
        met=requirements_met,
    )
    unmet = tuple((row.name, row.required, row.measured) for row in coverage.rows if row.met is False)
    return ReleaseGate("coverage", required, requirements_met, False, why=why, examples=unmet[:SHOWN])


def _check_unjudged_queries(query_ids: Sequence[str]) -> ReleaseGate:
    why = say_n(
        "{n:,} query has no settled grade and would be missing in the release. Judge its documents, "
        "or add documents to its pool.",
        "{n:,} queries have no settled grade and would be missing in the release. Judge their "
        "documents, or add documents to their pool.",
        len(query_ids),
    )
    return _check_none("unjudged_queries", len(query_ids), why, [(query_id,) for query_id in query_ids])


def _check_relevant(query_ids: Iterable[str], requirements: Mapping[str, object] | None) -> ReleaseGate:
    declared = (requirements or {}).get(DECLARED)
    declared_ids = set(declared) if isinstance(declared, list) else set()
    missing = [(query_id,) for query_id in query_ids if query_id not in declared_ids]
    why = say_n(
        "{n:,} judged query has no relevant document. Make a deeper pool, or list it as "
        "queries_without_relevant in the requirements.",
        "{n:,} judged queries have no relevant document. Make a deeper pool, or list them as "
        "queries_without_relevant in the requirements.",
        len(missing),
    )
    return _check_none("relevant", len(missing), why, missing)


def _check_stale(pairs: PairSurvey) -> ReleaseGate:
    stale = pairs.stale.count
    why = describe_stale(stale, on_text=pairs.stale_text, on_both=pairs.stale_both, since=pairs.meaning_since)
    return _check_none("stale", stale, why, pairs.stale.first)


def _check_ids(unwritable: Mapping[str, Sequence[str]]) -> ReleaseGate:
    ids = list(dict.fromkeys(item_id for listed in unwritable.values() for item_id in listed))
    why = say_n(
        "{n:,} id contains white space, which the format {formats} cannot hold. Rename it, or override this gate to publish "
        "without this format.",
        "{n:,} ids contain white space, which the format {formats} cannot hold. Rename them, or override this gate to publish "
        "without this format.",
        len(ids),
        formats=", ".join(unwritable),
    )
    return replace(_check_none("ids", len(ids), why, ()), examples=tuple((item_id,) for item_id in ids))
