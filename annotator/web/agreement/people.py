"""Replace usernames by display names in a report and in a selection of pairs, for the agreement page."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from annotator.agreement.records import AgreementReport, Leaning, PairSelection
from annotator.web.kit.person_names import PersonName, find_username, name_people_in, name_person

Names = Mapping[str, PersonName]


def name_report(report: AgreementReport, names: Names) -> AgreementReport:
    """Return the report as the page shows it. Its selections of pairs keep the usernames, for the addresses."""
    measured = report.measured
    return replace(
        report,
        annotators=tuple(name_person(who, names) for who in report.annotators),
        measured=replace(
            measured,
            annotator_pairs=tuple(
                replace(
                    pair,
                    annotators=(
                        name_person(pair.annotators[0], names),
                        name_person(pair.annotators[1], names),
                    ),
                )
                for pair in measured.annotator_pairs
            ),
            leanings=_name_leanings(measured.leanings, names),
            grades_by_annotator={
                name_person(who, names): counts for who, counts in measured.grades_by_annotator.items()
            },
        ),
        groups=tuple(
            replace(group, value=name_person(group.value, names))
            if group.by == "annotator" and group.value is not None
            else group
            for group in report.groups
        ),
        periods=tuple(
            replace(period, leanings=_name_leanings(period.leanings, names)) for period in report.periods
        ),
        findings=tuple(
            finding
            if finding.kind == "category"  # it joins categories, not people
            else replace(finding, sentence=name_people_in(finding.sentence, names))
            for finding in report.findings
        ),
    )


def name_selection(selection: PairSelection, names: Names) -> PairSelection:
    """Return the selection as a heading names it."""
    return replace(
        selection,
        annotators=tuple(name_person(who, names) for who in selection.annotators),
        without=tuple(name_person(who, names) for who in selection.without),
        value=name_person(selection.value, names)
        if selection.by == "annotator" and selection.value is not None
        else selection.value,
    )


def find_shown(report: AgreementReport, shown: object) -> str:
    """Return the username of the annotator with this display name."""
    return next((find_username(name) for name in report.annotators if name == shown), str(shown))


def _name_leanings(leanings: Sequence[Leaning], names: Names) -> tuple[Leaning, ...]:
    return tuple(replace(leaning, annotator=name_person(leaning.annotator, names)) for leaning in leanings)
