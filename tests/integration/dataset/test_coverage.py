"""What a dataset must cover is one of its settings, and is measured on its settled pairs, on both databases."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from annotator.dataset.coverage_service import check_file, measure_dataset_coverage, read_requirements
from annotator.dataset.records import Coverage
from annotator.dataset.service import change_settings, show_dataset
from annotator.domain.errors import ValidationError
from annotator.domain.people import OPERATOR
from annotator.formats.syntax.source import InputSource
from annotator.overview.service import show_overview
from annotator.releases.gates_service import check_release
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset
from annotator.storage.pairs.pair_settlements import read_settlements
from annotator.storage.pairs.pair_states import list_queries
from tests.integration.judged_world import NOW, JudgedWorld


class Covered(JudgedWorld):
    """Three queries in two categories; of the first, two documents are settled and one is not."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.hanako, self.minjun = self.person("花子"), self.person("민준")
        self.query("Q1", "ハンドラの設定", category="検索", language="ja", difficulty="easy")
        self.query("Q2", "17조 검색", category="検索", language="ko", query_type="specific_article")
        self.query("Q3", "no document at all", category="오류", language="en")
        for doc_id, grades in (("甲", (3, 3)), ("乙", (0, 0)), ("丙", (1, 2))):
            self.pair("Q1", doc_id)
            self.judge(self.hanako, "Q1", doc_id, grades[0])
            self.judge(self.minjun, "Q1", doc_id, grades[1])
        self.pair("Q2", "甲")

    def measure(self) -> Coverage:
        with self.database.read() as session:
            settled = read_settlements(session, self.dataset_pk)
            queries = list_queries(session, self.dataset_pk)
            return measure_dataset_coverage(settled, queries, find_dataset(session, "d").requirements)


def say(coverage: Coverage) -> dict[str, tuple[str, bool | None]]:
    return {row.name: (row.measured, row.met) for row in coverage.rows}


def test_a_dataset_without_requirements_has_figures_of_all_its_queries(database: Database) -> None:
    coverage = Covered(database).measure()
    rows = say(coverage)
    assert coverage.required == 0
    assert rows["queries"] == ("3", None)
    assert rows["queries per category"] == ("検索 2, 오류 1", None)
    assert rows["relevant documents per query"] == ("0 to 1, median 0, 1 in all", None)
    assert rows["queries without any graded document"] == ("2 (Q2, Q3)", None)
    assert coverage.figures["qrels_by_grade"] == {"0": 1, "1": 0, "2": 0, "3": 1}


def test_what_is_required_is_a_setting(database: Database, tmp_path: Path) -> None:
    world = Covered(database)
    file = tmp_path / "요구.yaml"
    file.write_text(
        "queries: 3\nmost_without_relevant: 1\nqueries_without_relevant: [Q3]\n", encoding="utf-8"
    )
    change_settings(
        database, OPERATOR, "d", {}, requirements=read_requirements(str(file)), now=datetime.now(UTC)
    )
    coverage = world.measure()
    assert (coverage.required, coverage.met) == (2, 2)
    shown, _ = show_dataset(database, OPERATOR, "d")
    assert shown.requirements == {
        "queries": 3,
        "most_without_relevant": 1,
        "queries_without_relevant": ["Q3"],
    }
    change_settings(database, OPERATOR, "d", {"requirements": "law"}, now=datetime.now(UTC))
    assert say(world.measure())["size"] == ("below 30 queries (27 more for 30)", False)
    change_settings(database, OPERATOR, "d", {"requirements": "none"}, now=datetime.now(UTC))
    assert world.measure().required == 0


def test_a_typed_value_never_names_a_file(database: Database, tmp_path: Path) -> None:
    """A page could submit what somebody typed; only the command line reads files."""
    Covered(database)
    file = tmp_path / "law.yaml"
    file.write_text("queries: 3\n", encoding="utf-8")
    with pytest.raises(ValidationError, match="requirements: expected nablarch, law, none, or a YAML file"):
        change_settings(database, OPERATOR, "d", {"requirements": str(file)}, now=datetime.now(UTC))
    assert show_dataset(database, OPERATOR, "d")[0].requirements is None


def test_overview_gate_and_check_say_the_same_of_what_a_further_column_requires(
    database: Database, tmp_path: Path
) -> None:
    world = JudgedWorld(database)
    hanako, minjun, lead = world.person("花子"), world.person("민준"), world.person("editor", "lead")
    for number in range(4):
        query_id, specific = f"Q{number}", "concrete" if number < 2 else "抽象"
        across = {"specificity": specific, "law_areas": ["도로", "주택"] if number == 3 else ["도로"]}
        world.query(query_id, f"検索 {number}", category="検索", primary_domain="도로", extra=across)
        world.pair(query_id, "甲")
        for person in (hanako, minjun):
            world.judge(person, query_id, "甲", 2)
    wanted = {
        "shares": {"specificity": {"concrete": 50, "抽象": 50}},
        "per_category": {"specificity": {"concrete": 2, "抽象": 2}},
        "domains": {"at_least": {"도로": 3}, "across": 1, "across_field": "law_areas"},
    }
    change_settings(database, OPERATOR, "d", {}, requirements=wanted, now=NOW)
    overview = show_overview(database, lead, "d").coverage
    (gate,) = [gate for gate in check_release(database, lead, "d").gates if gate.name == "coverage"]
    waived = {"kappa": "few", "quality_control": "none"}
    published = publish_release(
        database, lead, "d", "1.0.0", exports_dir=tmp_path, now=NOW, overrides=waived
    ).path
    checked = check_file(InputSource(str(published / "assay.yaml")), requirements=wanted).coverage
    assert checked is not None
    assert [row for row in overview.rows if row.met is not None] == [
        row for row in checked.rows if row.met is not None
    ]
    assert (overview.required, overview.met) == (checked.required, checked.met) == (3, 3)
    assert (gate.required, gate.measured) == (3, 3)


def test_gate_overview_and_datasheet_say_alike_that_it_is_not_yet_known_what_a_disputed_query_lacks(
    database: Database, tmp_path: Path
) -> None:
    world = JudgedWorld(database)
    hanako, minjun, lead = world.person("花子"), world.person("민준"), world.person("editor", "lead")
    for query_id, doc_id, grades in (("Q1", "甲", (0, 0)), ("Q1", "乙", (0, 2)), ("Q2", "甲", (3, 3))):
        if doc_id == "甲":
            world.query(query_id, f"検索 {query_id}")
        world.pair(query_id, doc_id)
        world.judge(hanako, query_id, doc_id, grades[0])
        world.judge(minjun, query_id, doc_id, grades[1])
    wanted = {"most_without_relevant": 0, "most_without_grade_2": 0}
    change_settings(database, OPERATOR, "d", {}, requirements=wanted, now=NOW)
    gates = {gate.name: gate for gate in check_release(database, lead, "d").gates}
    assert (gates["relevant"].measured, gates["relevant"].met) == (0, True)
    assert (gates["coverage"].required, gates["coverage"].measured) == (2, 2)
    measured = "none, and 1 not yet known"
    rows = say(show_overview(database, lead, "d").coverage)
    for name in ("queries without a relevant document", "queries without a document of grade 2 or 3"):
        assert rows[name] == (measured, True)
    waived = {"kappa": "few", "quality_control": "none", "disagreements": "later"}
    made = publish_release(database, lead, "d", "1.0.0", exports_dir=tmp_path, now=NOW, overrides=waived)
    sheet = (made.path / "DATASHEET.md").read_text("utf-8")
    assert f"| queries without a relevant document | none | {measured} | yes |" in sheet
    assert "leaves out 1 query that has no relevant document among the settled ones" in sheet
    assert "no relevant document among those judged" not in sheet
