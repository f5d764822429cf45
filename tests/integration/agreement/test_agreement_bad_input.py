"""What agreement says of datasets that cannot be measured: the service on both databases, and the command's JSON."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from annotator.agreement.service import compute_agreement
from annotator.cli.main import app
from annotator.dataset.service import create_dataset
from annotator.domain.errors import ValidationError
from annotator.domain.people import OPERATOR
from annotator.importing.judgments.judgments_service import import_judgments
from annotator.importing.texts.texts_service import import_queries
from annotator.storage.database import Database
from tests.agreement_cases import CASES, Case, Row, check, check_value, list_values

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
HEAD = "query_id,doc_id,annotator,grade\n"


def bring(database: Database, folder: Path, rows: tuple[Row, ...]) -> None:
    """A dataset `d` with these judgments, and a category of which nothing is judged."""
    create_dataset(database, OPERATOR, "d", now=NOW)
    query_ids = sorted({row[0] for row in rows} | {"Q0"})
    queries, judgments = folder / "q.csv", folder / "j.csv"
    lines = [f"{query_id},검색 {query_id},법령" for query_id in query_ids]
    queries.write_text("\n".join(["query_id,text,category", *lines, "unjudged,何もない,空", ""]), "utf-8")
    import_queries(database, OPERATOR, "d", queries, now=NOW)
    if rows:
        given = [f"{q},{d},{who},{'unrateable' if grade is None else grade}\n" for q, d, who, grade in rows]
        judgments.write_text(HEAD + "".join(given), "utf-8")
        import_judgments(database, OPERATOR, "d", judgments, now=NOW)


def run(database: Database, *words: str) -> Result:
    url = database.url.render_as_string(hide_password=False)
    return CliRunner().invoke(app, ["--database", url, "agreement", "d", "--resamples", "40", *words])


def read(result: Result) -> dict[str, Any]:
    """The JSON of a command that succeeded; NaN and Infinity are no JSON."""
    assert result.exit_code == 0, result.stderr

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    as_json = json.loads(result.stdout, parse_constant=refuse)
    assert isinstance(as_json, dict)
    return as_json


@pytest.mark.parametrize("name", CASES)
def test_a_dataset_that_cannot_be_measured_gets_sentences(
    database: Database, tmp_path: Path, name: str
) -> None:
    case: Case = CASES[name]
    bring(database, tmp_path, case.rows)
    report = compute_agreement(database, OPERATOR, "d", by="category", resamples=40)
    assert sorted(report.annotators) == sorted(case.people)
    check(case, report.as_json())
    assert report.diagnosis and case.said in "\n".join(report.diagnosis)
    assert not any("nan" in sentence.split() for sentence in report.diagnosis)
    for by in ("category", "annotator", "difficulty"):
        as_json = read(run(database, "--by", by, "--json"))
        assert sorted(as_json["annotators"]) == sorted(case.people)
        check(case, as_json)
    shown = run(database)
    assert shown.exit_code == 0, shown.stderr
    assert "nan" not in shown.stdout.split()


def test_a_group_without_judgments_is_there_with_its_reason(database: Database, tmp_path: Path) -> None:
    bring(database, tmp_path, CASES["one query only"].rows)
    as_json = read(run(database, "--by", "category", "--json"))
    empty = next(group for group in as_json["groups"] if group["value"] == "空")
    assert (empty["pairs"], empty["observed_agreement"]) == (0, None)
    for value in list_values(empty):
        assert value["value"] is None
        check_value(value)


def test_a_group_field_that_no_query_has_is_one_group_of_all(database: Database, tmp_path: Path) -> None:
    case = CASES["an annotator with a single judgment"]
    bring(database, tmp_path, case.rows)
    (group,) = read(run(database, "--by", "difficulty", "--json"))["groups"]
    assert (group["by"], group["value"], group["pairs"]) == ("difficulty", None, case.pairs)


def test_a_field_that_does_not_exist_is_refused_with_those_that_do(
    database: Database, tmp_path: Path
) -> None:
    bring(database, tmp_path, CASES["nothing judged"].rows)
    with pytest.raises(ValidationError, match=r"Cannot group by 'colour': choose one of .*category"):
        compute_agreement(database, OPERATOR, "d", by="colour")
    refused = run(database, "--by", "colour", "--json")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert isinstance(refused.exception, ValidationError)
