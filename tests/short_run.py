"""Select the tests that only `make test-long` runs: tests marked `long`, and most tests on PostgreSQL.

`make test` runs every test on SQLite, but only the tests of ON_BOTH on PostgreSQL too. ON_BOTH has the tests of
SQL that is written twice, of locks, reads and orders that differ, and for each slice at least one file that
runs its statements; of some files only the tests whose statements no other file there runs. Of these, SQLITE_ENOUGH
leaves out what the statements of the file's other tests protect on PostgreSQL; and of a test with several cases, the
first alone runs there, unless its cases ask different things of the database (EVERY_CASE). `--long`, and a test named as
`FILE::TEST`, run on both databases.

`long("browser/web/test_x.py::test_y")` names what protects the same in every run; a case of a test that is marked
`long` is protected by the test's other cases. tests/test_short_run.py finds a name that is gone.
"""

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, settings

EXAMPLES, SLOW_EXAMPLES = 25, 6  # of each test in `make test`


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
    "tests/integration/adjudication/test_bulk_commands.py::test_a_meeting_from_the_file_to_the_decisions",
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
    "tests/integration/releases/test_ids_with_white_space.py::test_a_query_that_takes_an_old_id_gets_pairs_of_its_own",
    "tests/integration/releases/test_ids_with_white_space.py::test_renamed_ids_are_published_in_every_format_and_keep_their_pairs",
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
SQLITE_ENOUGH = (
    "adjudication/test_concurrent_decisions.py::test_a_lead_may_leave_where_nothing_is_disputed",
    "adjudication/test_impact.py::test_a_decision_on_many_queries_at_once_leaves_them_due",
    "adjudication/test_impact.py::test_a_pair_that_quality_control_contradicts_is_a_choice",
    "adjudication/test_impact.py::test_a_query_without_anything_relevant_has_no_score_rather_than_0",
    "adjudication/test_impact.py::test_a_queue_of_which_much_is_due_says_so",
    "adjudication/test_impact.py::test_as_long_as_the_sums_are_not_known",
    "adjudication/test_impact.py::test_scores_that_were_lost_are_made_again",
    "adjudication/test_impact.py::test_what_is_known_is_the_same_in_whatever_order_it_was_read",
    "adjudication/test_impact.py::test_without_runs_it_is_by_what_else_is_relevant_for_the_query",
    "adjudication/test_queue_summary.py::test_only_leads_are_told",
    "adjudication/test_queue_summary.py::test_what_a_policy_settled_says_nothing_about_the_pace",
    "agreement/test_agreement.py::test_an_option_outside_what_there_is_is_refused",
    "agreement/test_agreement.py::test_only_a_lead_sees_who_agrees_with_whom",
    "agreement/test_agreement.py::test_simulated_annotators_are_told_apart_right_after_the_verdict",
    "agreement/test_agreement.py::test_the_command_draws_with_the_datasets_seed",
    "agreement/test_agreement.py::test_the_gate_goes_by_the_verdict_of_the_report",
    "agreement/test_agreement.py::test_the_json_has_the_documented_shape",
    "agreement/test_agreement.py::test_the_same_seed_gives_the_same_report",
    "agreement/test_agreement.py::test_the_text_shows_the_diagnosis",
    "agreement/test_agreement.py::test_undefined_values_are_null_with_a_reason",
    "agreement/test_selected_pairs.py::test_a_sentence_about_a_change_opens_the_third_of_the_work",
    "audit/test_audit_log.py::test_the_command_shows_lines_verifies_and_prints_the_head",
    "evaluation/test_pooled_holes.py::test_options_that_exclude_each_other_are_refused",
    "evaluation/test_pooled_holes.py::test_the_command_makes_the_pairs_and_says_why",
    "evaluation/test_rankings.py::test_a_pair_in_no_run_that_the_lead_may_still_judge_hides_the_lists_too",
    "evaluation/test_rankings.py::test_a_query_with_a_grade_that_the_lead_has_still_to_judge_is_not_scored",
    "evaluation/test_rankings.py::test_a_result_that_no_run_lists_is_refused_and_nothing_is_added",
    "evaluation/test_rankings.py::test_only_leads_see_any_of_it",
    "evaluation/test_rankings.py::test_what_does_not_exist_is_not_found",
    "importing/test_import_qrels.py::test_names_of_annotators_are_refused",
    "importing/test_import_qrels.py::test_names_that_do_not_fit_the_annotators_in_a_file_are_refused",
    "importing/test_import_qrels.py::test_queries_that_are_not_there_are_each_named",
    "importing/test_import_qrels.py::test_what_cannot_be_read_is_refused",
    "importing/test_imported_judgments.py::test_the_command_writes_null",
    "importing/test_imported_judgments.py::test_the_release_leaves_empty_what_is_not_known",
    "importing/test_imported_judgments.py::test_what_is_declared_is_kept_and_told_in_the_datasheet",
    "importing/test_importing.py::test_a_document_of_twenty_megabytes_is_stored",
    "importing/test_importing.py::test_a_folder_is_imported_by_file_or_by_section",
    "importing/test_importing.py::test_an_empty_or_missing_folder",
    "importing/test_importing.py::test_another_encoding_is_read_when_it_is_named",
    "importing/test_importing.py::test_bad_lines_go_to_stderr",
    "importing/test_importing.py::test_every_command_reports_and_says_what_is_next",
    "importing/test_importing.py::test_every_query_format_stores_the_same",
    "importing/test_importing.py::test_importing_needs_a_lead",
    "importing/test_importing.py::test_new_annotators_that_look_like_others_are_refused_with_the_line",
    "importing/test_importing.py::test_options_reach_the_import",
    "importing/test_importing.py::test_people_of_simulated_judgments_are_marked",
    "importing/test_remapping.py::test_a_chain_of_chunks_that_move_up_by_one",
    "importing/test_remapping.py::test_a_new_id_by_which_a_retired_document_is_known_is_refused",
    "importing/test_remapping.py::test_a_part_that_keeps_the_old_id",
    "importing/test_remapping.py::test_a_split_document_that_nothing_hangs_on",
    "importing/test_remapping.py::test_a_swap_a_ring_and_a_chain_go_in_one_file",
    "importing/test_remapping.py::test_a_text_goes_along_where_the_new_document_has_none",
    "importing/test_remapping.py::test_bad_lines_are_named_and_nothing_is_changed",
    "importing/test_remapping.py::test_every_count_leaves_out_what_has_left_the_pool",
    "importing/test_remapping.py::test_only_a_lead_may",
    "importing/test_remapping.py::test_results_of_runs_for_documents_that_left",
    "importing/test_remapping.py::test_the_same_file_twice_is_once_also_where_it_would_go_round",
    "importing/test_remapping.py::test_what_the_file_and_the_dataset_do_not_share_is_reported",
    "importing/test_run_order.py::test_a_run_whose_documents_got_other_ids_keeps_its_order",
    "importing/test_run_order.py::test_the_same_file_again_adds_the_results",
    "importing/test_run_order.py::test_what_a_run_scores_follows_its_order",
    "installation/test_backup.py::test_the_commands_report_as_json",
    "labeling/test_assignment.py::TestGiving::test_a_query_that_somebody_may_not_judge_is_told",
    "labeling/test_assignment.py::TestGiving::test_one_unknown_query_or_person_and_nothing_is_given",
    "labeling/test_assignment.py::TestGiving::test_only_a_lead_may",
    "labeling/test_assignment.py::TestSeeingTheNumbersFirst::test_a_preview_",
    "labeling/test_assignment.py::test_the_commands_give_take_back_hand_on_and_show",
    "labeling/test_calibration.py::test_a_file_with_a_bad_line_marks_nothing",
    "labeling/test_calibration.py::test_one_pair_is_marked_and_refused_as_a_file_would_be",
    "labeling/test_calibration.py::test_only_leads_mark_see_marks_and_read_results",
    "overview/test_overview.py::test_a_dataset_goes_from_disagreement_to_release_step_by_step",
    "overview/test_overview.py::test_the_activity_of_people_is_counted_as_on_the_overview",
    "pooling/test_duplicates.py::test_the_command",
    "pooling/test_pooling.py::test_a_query_that_a_retriever_cannot_answer_is_named",
    "pooling/test_pooling.py::test_hybrid_fuses_retrievers_and_runs",
    "pooling/test_pooling.py::test_own_vectors_pool_and_a_bad_file_changes_nothing",
    "pooling/test_pooling.py::test_the_command",
    "pooling/test_pooling.py::test_what_there_is_nothing_of_is_refused",
    "pooling/test_proposals.py::test_a_query_of_another_category_or_language_is_refused",
    "pooling/test_proposals.py::test_a_query_that_was_given_to_others_is_refused",
    "pooling/test_proposals.py::test_nothing_is_proposed_before_training_is_passed",
    "pooling/test_suggestions.py::test_a_dry_run_counts_the_same_and_stores_nothing",
    "pooling/test_suggestions.py::test_bad_relations_change_nothing",
    "pooling/test_suggestions.py::test_only_leads_suggest_and_read_the_report",
    "pooling/test_suggestions.py::test_the_commands_print_figures_and_json",
    "pooling/test_suggestions.py::test_without_a_grade_3_there_is_nothing_to_start_from",
    "quality/test_quality_draws.py::test_numbers_that_cannot_be_are_refused",
    "quality/test_quality_draws.py::test_who_cannot_check_is_refused_with_the_reason",
    "releases/test_release_order.py::test_a_bad_line_stores_nothing",
    "releases/test_release_order.py::test_a_query_without_a_relevant_document",
    "releases/test_release_order.py::test_a_release_written_as_another_ranked_file",
    "releases/test_releases.py::test_a_folder_that_is_gone_or_changed_is_said",
    "releases/test_releases.py::test_a_foreign_folder_in_the_way_is_refused",
    "releases/test_releases.py::test_a_release_says_who_made_it",
    "releases/test_releases.py::test_an_id_that_trec_cannot_carry",
    "releases/test_releases.py::test_an_undefined_kappa_is_not_met",
    "releases/test_releases.py::test_an_unknown_gate_and_a_blank_reason",
    "releases/test_releases.py::test_only_a_lead_and_a_person_may_publish",
    "releases/test_releases.py::test_our_own_readers_read_every_file_back",
    "releases/test_releases.py::test_simulated_judgments_say_so",
    "releases/test_releases.py::test_the_law_evaluator_arrives",
    "releases/test_releases.py::test_the_manifest_says_what_is_needed_to_cite_it",
    "releases/test_releases.py::test_the_nablarch_evaluator_arrives",
    "releases/test_releases.py::test_what_a_release_says_of_its_dataset_is_one_line",
)  # below tests/integration/, by the beginnings of their names: refusals, words, files and options
EVERY_CASE = (
    "tests/integration/agreement/test_selected_pairs.py",
    "tests/integration/installation/",
    "tests/integration/labeling/test_at_the_same_time.py",
    "tests/integration/labeling/test_labeling.py",
    "tests/integration/labeling/test_my_work.py",
    "tests/integration/pooling/test_pool_analysis.py",
    "tests/integration/pooling/test_proposals.py::test_documents_are_found",
    "tests/integration/storage/",
    "tests/integration/web/",
    "tests/security/entrance/",
    "tests/security/test_long_texts.py",
)
KINDS = ("copy_database", "empty_database")  # the fixtures of tests/databases.py


def leave_to_long_run(items: list[pytest.Item], config: pytest.Config) -> None:
    """Remove the tests that only `--long` runs from `items`, and report them as deselected."""
    if config.getoption("long") or any("::" in name for name in config.args):
        return
    tried, left, kept = set[str](), list[pytest.Item](), list[pytest.Item]()
    for item in items:
        (left if _is_long(item, tried) else kept).append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = kept


def _is_long(item: pytest.Item, tried: set[str]) -> bool:
    """`tried`: the tests of which a case on PostgreSQL was kept; this one is added."""
    if item.get_closest_marker("long") is not None:
        return True
    if "postgresql" not in list_kinds(item):
        return False
    test = item.nodeid.partition("[")[0]
    if not test.startswith(ON_BOTH) or test.removeprefix("tests/integration/").startswith(SQLITE_ENOUGH):
        return True
    is_further_case = test in tried and not test.startswith(EVERY_CASE)
    tried.add(test)
    return is_further_case


def list_kinds(item: pytest.Item) -> Sequence[str]:
    """The kinds of database that this test's fixtures make."""
    parameters = (
        item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    )
    return [str(parameters[name]) for name in KINDS if name in parameters]
