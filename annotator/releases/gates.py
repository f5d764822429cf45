"""The gates of a release: what it needs, what was measured, and what a lead overrode.

In this order: `kappa` (Cohen's kappa reaches the setting `kappa_target`; unknown is not met), `disagreements` (none open or
reopened by quality control), `overlap` (no pair is short of judgments), `quality_control` (done and passed), `coverage` (what
the dataset declares as required, counted over what the files would hold), `unjudged_queries` (every query has a settled
grade), `relevant` (every judged query has a relevant document, or is listed as having none), `stale` (nothing rests on an
older meaning of the grades or an older text: decided pairs by their decision, others by every judgment, kept imports never).
An unmet gate stops a release unless a lead overrides it by name with a reason, kept in the manifest; an override of a met
gate is not kept. `quality_control` uses the setting `quality_rule`: `bound` is the largest share of errors that the sample
leaves possible, `rate` the share it shows; the text gives both.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotator.agreement.records import AgreementVerdict
from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, join, join_sentences, say, say_n
from annotator.quality.records import LIMIT, QualityStatus
from annotator.releases.records import DIGITS, GateOverride, Names, ReleaseGate

NAME = "quality_control"


def check_quality(status: QualityStatus | None, *, dataset: str) -> ReleaseGate:
    """Check quality control: the verdict by the dataset's own rule must be "passed". None, or no draw: nothing was
    checked."""
    if status is None or not status.round:
        why = say("not done: draw a sample (annotator qc draw {dataset} --annotator USER)", dataset=dataset)
        return ReleaseGate(NAME, LIMIT, None, False, why=why)
    error_rate = status.rates["any"]
    measured = error_rate.bound if status.rule == "bound" else error_rate.rate
    measured = None if measured is None else round(measured, DIGITS)
    if status.verdict == "passed":
        return ReleaseGate(NAME, LIMIT, measured, True, why=describe_sample(status))
    return ReleaseGate(
        NAME,
        LIMIT,
        measured,
        False,
        why=join((describe_sample(status), _describe_quality_work(status, dataset)), ": "),
    )


def describe_sample(status: QualityStatus) -> Message:
    """Say what the sample shows and what it proves."""
    error_rate = status.rates["any"]
    if error_rate.rate is None or error_rate.bound is None:
        return say_n(
            "{n:,} pair is drawn, and none is checked yet",
            "{n:,} pairs are drawn, and none is checked yet",
            status.drawn,
        )
    return say_n(
        "{n:,} error among {checked:,} pairs checked ({rate:.2%}), so up to {bound:.2%} of all {population:,} may be errors",
        "{n:,} errors among {checked:,} pairs checked ({rate:.2%}), so up to {bound:.2%} of all {population:,} may be errors",
        error_rate.errors,
        checked=error_rate.checked,
        rate=error_rate.rate,
        bound=error_rate.bound,
        population=status.population,
    )


def _describe_quality_work(status: QualityStatus, dataset: str) -> Message:
    if status.verdict == "undecided" and status.waiting:
        return say_n(
            "{n:,} of those drawn waits for the expert on the page Label (annotator qc status {dataset})",
            "{n:,} of those drawn wait for the expert on the page Label (annotator qc status {dataset})",
            status.waiting,
            dataset=dataset,
        )
    if status.verdict == "undecided" and status.further:
        return say_n(
            "{n:,} more without an error would pass, so draw more (annotator qc draw {dataset} --annotator USER)",
            "{n:,} more without an error would pass, so draw more (annotator qc draw {dataset} --annotator USER)",
            status.further,
            dataset=dataset,
        )
    return say(
        "look at the errors, sharpen the guideline, and when the grades are better begin a new sample "
        "(annotator qc draw {dataset} --annotator USER --new-round)",
        dataset=dataset,
    )


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
    """Return whether a settled pair rests on an older text of its document, of a judgment (`judged`) or of the
    decision."""
    return decided if status == "adjudicated" else judged and status in ("unanimous", "single")


def describe_stale(stale: int, *, on_text: int, on_both: int, since: int | None, dataset: str) -> Message:
    """Say what stale pairs rest on, and what to do. `on_text`: those on an older text; `on_both`: also on an older
    guideline."""
    on_guideline, parts = stale - on_text + on_both, []
    if on_guideline:
        parts.append(
            say_n(
                "{n:,} settled pair rests on a guideline older than version {since}, which changed what a grade means",
                "{n:,} settled pairs rest on a guideline older than version {since}, which changed what a grade means",
                on_guideline,
                since=since,
            )
        )
    if on_text:
        parts.append(
            say_n(
                "{n:,} settled pair rests on an older text of its document",
                "{n:,} settled pairs rest on an older text of their documents",
                on_text,
            )
        )
    return say(
        "{what}: decide them anew (annotator adjudicate {dataset} FILE --as LEAD), or have them judged again",
        what=join(parts, "; "),
        dataset=dataset,
    )


MAX_REASON = 10_000
SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFigures:
    """Everything the gates need, counted over the whole dataset. `…_pairs` and `…_queries` are examples."""

    dataset: str
    verdict: AgreementVerdict  # the report's, on the dataset's kappa and its target
    disagreements: int = 0  # open ones
    reopened: int = 0  # open disagreements that quality control reopened
    open_pairs: Sequence[Names] = ()
    overlap: int = 2
    uneven: bool = False  # whether some pairs need another number of judgments than `overlap`
    short: int = 0  # pairs that lack judgments
    short_pairs: Sequence[Names] = ()
    requirements: int = 0  # declared ones
    requirements_met: int = 0
    unmet: Sequence[Names] = ()  # (requirement, required, measured)
    unjudged: int = 0  # queries without a settled grade, which no file contains
    unjudged_queries: Sequence[str] = ()
    without_relevant: int = 0
    """Queries with settled grades, none of them from 1 on, that are not declared to have none."""
    without_relevant_queries: Sequence[str] = ()
    stale: int = 0  # stale settled pairs (see `is_stale`)
    stale_pairs: Sequence[Names] = ()
    stale_text: int = 0  # stale pairs on an older text
    stale_both: int = 0  # stale pairs on an older text and an older guideline
    meaning_since: int | None = None
    """Latest guideline version with another meaning of the grades; None if the first one still holds."""
    quality: QualityStatus | None = None  # None if nothing was ever drawn


def compare_gates(figures: GateFigures) -> tuple[ReleaseGate, ...]:
    """Return every gate, in the order in which gates are shown and published."""
    name = figures.dataset
    return (
        check_kappa(figures.verdict, dataset=name),
        check_disagreements(
            figures.disagreements, figures.open_pairs, reopened=figures.reopened, dataset=name
        ),
        _check_overlap(figures),
        check_quality(figures.quality, dataset=name),
        _check_coverage(figures),
        _check_unjudged_queries(figures),
        _check_relevant(figures),
        _check_stale(figures),
    )


def check_kappa(verdict: AgreementVerdict, *, dataset: str = "DATASET") -> ReleaseGate:
    """Check kappa by the report's verdict. Unknown is not met; `why` says what would decide it."""
    value = verdict.kappa.value
    measured = None if value is None else round(value, DIGITS)
    if verdict.state == "met":
        return ReleaseGate("kappa", verdict.target, measured, True)
    look = say("See where the annotators differ: annotator agreement {dataset}", dataset=dataset)
    return ReleaseGate("kappa", verdict.target, measured, False, why=join_sentences([verdict.sentence, look]))


def check_disagreements(
    opened: int, pairs: Sequence[Names] = (), *, reopened: int = 0, dataset: str = "DATASET"
) -> ReleaseGate:
    """Check that no disagreement is open. `reopened`: how many of them quality control reopened."""
    why = say(
        "{opened:,} open: decide them (annotator disagreements {dataset}, annotator adjudicate {dataset} FILE --as LEAD)",
        opened=opened,
        dataset=dataset,
    )
    if reopened:
        why = say(
            "{opened:,} open, {reopened:,} of them reopened by quality control: decide them (annotator disagreements "
            "{dataset}, annotator adjudicate {dataset} FILE --as LEAD)",
            opened=opened,
            reopened=reopened,
            dataset=dataset,
        )
    return _check_none("disagreements", opened, why, pairs)


def override_gates(
    gates: Sequence[ReleaseGate], reasons: Mapping[str, str], *, by: str
) -> tuple[ReleaseGate, ...]:
    """Return the gates with their overrides. Raises ValidationError for an unknown gate, or an empty reason."""
    names = [gate.name for gate in gates]
    for name, reason in reasons.items():
        if name not in names:
            raise ValidationError(f"no gate named {name!r}; there are: {', '.join(names)}")
        if not reason.strip() or "\0" in reason or len(reason) > MAX_REASON:
            raise ValidationError(
                say(
                    "override of {name}: expected a reason in words, found {found!r}",
                    name=name,
                    found=reason[:40],
                )
            )
    return tuple(
        replace(gate, override=GateOverride(reasons[gate.name].strip(), by))
        if gate.name in reasons and not gate.met
        else gate
        for gate in gates
    )


def explain(gates: Iterable[ReleaseGate], open_pairs: Sequence[tuple[str, str]] = ()) -> str:
    """Return what is missing for a release, for people; "" if nothing is.

    `open_pairs`: for a disagreements gate without its own examples.
    """
    missing = [gate for gate in gates if not gate.met and gate.override is None]
    lines = []
    for gate in missing:
        shown = gate.examples or (tuple(open_pairs) if gate.name == "disagreements" else ())
        lines.append(f"- {gate.name}: {gate.why}")
        lines += [f"    {'  '.join(names)}".replace("\n", " ") for names in shown]
        hidden = _count_missing(gate) - len(shown) if shown else 0
        lines += [f"    and {hidden:,} more"] if hidden > 0 else []
    if not lines:
        return ""
    how = " ".join(f"--override {gate.name}=REASON" for gate in missing)
    return "\n".join(["not ready to be published:", *lines, f"or publish nevertheless, with a reason: {how}"])


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


def _check_overlap(figures: GateFigures) -> ReleaseGate:
    why = say_n(
        "{n:,} pair judged by fewer than {overlap}: they wait for the annotators on the page Label (who has what left: "
        "annotator progress {dataset})",
        "{n:,} pairs judged by fewer than {overlap}: they wait for the annotators on the page Label (who has what left: "
        "annotator progress {dataset})",
        figures.short,
        overlap=figures.overlap,
        dataset=figures.dataset,
    )
    if figures.uneven:
        why = say_n(
            "{n:,} pair short of the judgments it needs: it waits for the annotators on the page Label (who has what left: "
            "annotator assign {dataset} --list)",
            "{n:,} pairs short of the judgments they need: they wait for the annotators on the page Label (who has what "
            "left: annotator assign {dataset} --list)",
            figures.short,
            dataset=figures.dataset,
        )
    return _check_none("overlap", figures.short, why, figures.short_pairs)


def _check_coverage(figures: GateFigures) -> ReleaseGate:
    required, requirements_met = figures.requirements, figures.requirements_met
    if not required:
        none = say(
            "no requirements are declared (annotator dataset set {dataset} requirements=nablarch|law|FILE)",
            dataset=figures.dataset,
        )
        return ReleaseGate("coverage", 0, 0, True, why=none)
    if requirements_met >= required:
        return ReleaseGate("coverage", required, requirements_met, True)
    why = say_n(
        "{met:,} of {n:,} requirement met: import what is missing (annotator import queries {dataset} FILE) or declare "
        "others (annotator dataset set {dataset} requirements=nablarch|law|FILE)",
        "{met:,} of {n:,} requirements met: import what is missing (annotator import queries {dataset} FILE) or declare "
        "others (annotator dataset set {dataset} requirements=nablarch|law|FILE)",
        required,
        met=requirements_met,
        dataset=figures.dataset,
    )
    return ReleaseGate(
        "coverage", required, requirements_met, False, why=why, examples=tuple(figures.unmet)[:SHOWN]
    )


def _check_unjudged_queries(figures: GateFigures) -> ReleaseGate:
    why = say_n(
        "{n:,} query has no settled grade, so it would be in no file: have its documents judged (annotator progress "
        "{dataset}), or pool some for it (annotator pool {dataset} --depth K)",
        "{n:,} queries have no settled grade, so they would be in no file: have their documents judged (annotator progress "
        "{dataset}), or pool some for them (annotator pool {dataset} --depth K)",
        figures.unjudged,
        dataset=figures.dataset,
    )
    names = [(query_id,) for query_id in figures.unjudged_queries]
    return _check_none("unjudged_queries", figures.unjudged, why, names)


def _check_relevant(figures: GateFigures) -> ReleaseGate:
    without_relevant = figures.without_relevant
    why = say_n(
        "{n:,} judged query has no relevant document: pool deeper (annotator pool {dataset} --depth K), or list them "
        "as queries_without_relevant in the requirements (annotator dataset set {dataset} requirements=FILE)",
        "{n:,} judged queries have no relevant document: pool deeper (annotator pool {dataset} --depth K), or list them "
        "as queries_without_relevant in the requirements (annotator dataset set {dataset} requirements=FILE)",
        without_relevant,
        dataset=figures.dataset,
    )
    return _check_none(
        "relevant", without_relevant, why, [(item,) for item in figures.without_relevant_queries]
    )


def _check_stale(figures: GateFigures) -> ReleaseGate:
    why = describe_stale(
        figures.stale,
        on_text=figures.stale_text,
        on_both=figures.stale_both,
        since=figures.meaning_since,
        dataset=figures.dataset,
    )
    return _check_none("stale", figures.stale, why, figures.stale_pairs)
