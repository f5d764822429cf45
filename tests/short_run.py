"""Select the tests that only `make test-long` runs: tests marked `long`, and most tests on PostgreSQL.

`make test` runs every test on SQLite, but only the tests of ON_BOTH on PostgreSQL too. ON_BOTH has the tests of
SQL that is written twice, of locks, reads and orders that differ, and for each slice at least one file that
runs its statements; of some files only the tests whose statements no other file there runs. `--long`, and a test named as `FILE::TEST`, run on both databases.

`long("browser/web/test_x.py::test_y")` names what protects the same in every run; a case of a test that is marked
`long` is protected by the test's other cases. tests/test_short_run.py finds a name that is gone.
"""

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, settings

EXAMPLES, SLOW_EXAMPLES = 40, 10  # of each test in `make test`


def draw_few(*, filters: bool = False) -> settings:
    """Draw few examples for a test whose examples are slow, and as many as for any other with `--long`.

    `filters`: it assumes what most examples are not.
    """
    usual = settings()
    left_out = [HealthCheck.filter_too_much] if filters else []
    return settings(
        max_examples=SLOW_EXAMPLES if usual.max_examples == EXAMPLES else usual.max_examples,
        suppress_health_check=[*usual.suppress_health_check, *left_out],
    )


ON_BOTH = (
    "tests/fuzz/test_http.py::test_hostile_requests_neither_fail_nor_cost_a_label",
    "tests/integration/adjudication/test_adjudication.py",
    "tests/integration/adjudication/test_audit_log_capacity.py",
    "tests/integration/adjudication/test_bulk_commands.py",
    "tests/integration/adjudication/test_concurrent_decisions.py",
    "tests/integration/adjudication/test_disagreement_reasons.py",
    "tests/integration/adjudication/test_disagreements.py",
    "tests/integration/adjudication/test_impact.py",
    "tests/integration/adjudication/test_policies.py",
    "tests/integration/adjudication/test_queue.py",
    "tests/integration/adjudication/test_queue_summary.py",
    "tests/integration/adjudication/test_stale_disagreements.py",
    "tests/integration/agreement/test_agreement.py",
    "tests/integration/agreement/test_grades.py",
    "tests/integration/agreement/test_left_out.py",
    "tests/integration/agreement/test_selected_pairs.py",
    "tests/integration/agreement/test_since_version.py",
    "tests/integration/audit/test_audit_log.py",
    "tests/integration/dataset/test_archive.py",
    "tests/integration/dataset/test_coverage.py",
    "tests/integration/dataset/test_datasets.py",
    "tests/integration/dataset/test_restored_rows.py",
    "tests/integration/evaluation/test_pooled_holes.py",
    "tests/integration/evaluation/test_rankings.py",
    "tests/integration/evaluation/test_structure.py",
    "tests/integration/guideline/test_feedback.py",
    "tests/integration/guideline/test_marking_in_parts.py",
    "tests/integration/guideline/test_outdated.py",
    "tests/integration/guideline/test_versions.py",
    "tests/integration/importing/test_import_laws.py",
    "tests/integration/importing/test_import_qrels.py",
    "tests/integration/importing/test_import_records.py",
    "tests/integration/importing/test_imported_judgments.py",
    "tests/integration/importing/test_importing.py",
    "tests/integration/importing/test_remapping.py",
    "tests/integration/importing/test_run_order.py",
    "tests/integration/importing/test_write_lock.py",
    "tests/integration/installation/",
    "tests/integration/labeling/test_assignment.py",
    "tests/integration/labeling/test_at_the_same_time.py",
    "tests/integration/labeling/test_calibration.py",
    "tests/integration/labeling/test_checks.py",
    "tests/integration/labeling/test_clock_came_back.py",
    "tests/integration/labeling/test_expertise.py",
    "tests/integration/labeling/test_fair_for_all.py",
    "tests/integration/labeling/test_handed_out_pairs.py",
    "tests/integration/labeling/test_labeling.py",
    "tests/integration/labeling/test_missing_judgments.py",
    "tests/integration/labeling/test_my_work.py",
    "tests/integration/labeling/test_questions.py",
    "tests/integration/labeling/test_statement_budget.py",
    "tests/integration/labeling/test_submitted_together.py",
    "tests/integration/labeling/test_unfinished_queries.py",
    "tests/integration/overview/test_overview.py",
    "tests/integration/people/test_accounts.py::TestGuessing::test_after_five_failures_a_name_waits_at_that_address_even_with_the_right_password",
    "tests/integration/people/test_accounts.py::TestGuessing::test_guesses_at_the_same_moment_all_count",
    "tests/integration/people/test_accounts.py::TestNames",
    "tests/integration/people/test_accounts.py::TestSigningIn",
    "tests/integration/people/test_accounts.py::TestTheLastAdmin",
    "tests/integration/people/test_look_alikes.py",
    "tests/integration/people/test_setup.py",
    "tests/integration/pooling/test_duplicates.py",
    "tests/integration/pooling/test_filters.py",
    "tests/integration/pooling/test_pool_analysis.py",
    "tests/integration/pooling/test_pooling.py",
    "tests/integration/pooling/test_proposals.py",
    "tests/integration/pooling/test_rounds.py",
    "tests/integration/pooling/test_suggestions.py",
    "tests/integration/quality/test_quality_draws.py",
    "tests/integration/quality/test_settled_pairs.py",
    "tests/integration/releases/test_ids_with_white_space.py",
    "tests/integration/releases/test_probabilities.py",
    "tests/integration/releases/test_publish_in_parts.py",
    "tests/integration/releases/test_release_content.py",
    "tests/integration/releases/test_release_order.py",
    "tests/integration/releases/test_releases.py",
    "tests/integration/storage/",
    "tests/integration/web/",
    "tests/security/entrance/test_parameters.py::test_an_extreme_time_is_taken_or_refused_in_words",
    "tests/security/entrance/test_parameters.py::test_no_parameter",
    "tests/security/test_hostile_event_ids.py",
    "tests/security/test_long_texts.py",
)
KINDS = ("copy_database", "empty_database")  # the fixtures of tests/databases.py


def leave_to_long_run(items: list[pytest.Item], config: pytest.Config) -> None:
    """Remove the tests that only `--long` runs from `items`, and report them as deselected."""
    if config.getoption("long") or any("::" in name for name in config.args):
        return
    left = [item for item in items if _is_long(item)]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if not _is_long(item)]


def _is_long(item: pytest.Item) -> bool:
    return item.get_closest_marker("long") is not None or (
        "postgresql" in list_kinds(item) and not item.nodeid.startswith(ON_BOTH)
    )


def list_kinds(item: pytest.Item) -> Sequence[str]:
    """The kinds of database that this test's fixtures make."""
    parameters = (
        item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    )
    return [str(parameters[name]) for name in KINDS if name in parameters]
