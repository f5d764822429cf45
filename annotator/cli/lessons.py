"""`annotator lessons`: what decided disputes teach the guideline."""

from annotator.cli.terminal import (
    DatabaseOption,
    DatasetArgument,
    JsonOption,
    now,
    open_database,
    print_json,
    print_table,
)


def lessons(dataset: DatasetArgument, database: DatabaseOption = None, json: JsonOption = False) -> None:
    """Sum up what decided disputes teach the guideline, most to be gained first."""
    from annotator.domain.people import OPERATOR
    from annotator.guideline.feedback_service import list_lessons

    found = list_lessons(open_database(database), OPERATOR, dataset, now=now())
    if json:
        told = [lesson.as_json() for lesson in found.lessons]
        print_json({"decided": found.decided, "waiting": found.waiting, "lessons": told})
        return
    rows = [
        (
            len(lesson.cases) or len(lesson.questions),
            lesson.open,
            lesson.impact,
            ", ".join(map(str, lesson.answered_in)),
            lesson.sentence,
        )
        for lesson in found.lessons
    ]
    columns = ("decisions", "open", "impact", "answered in", "lesson")
    print_table(columns, rows, empty="Decided disputes teach the guideline nothing so far.")
