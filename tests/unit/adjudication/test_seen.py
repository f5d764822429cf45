"""What a digest of what was seen holds fast."""

from annotator.adjudication.records import compute_case_version


def test_what_was_seen_changes_with_a_judgment_and_with_a_decision_but_not_with_the_order() -> None:
    assert compute_case_version(["e1", "e2"], 0) == compute_case_version(["e2", "e1"], 0)
    others = [
        compute_case_version(["e1", "e3"], 0),
        compute_case_version(["e1"], 0),
        compute_case_version(["e1", "e2"], 1),
    ]
    assert len({compute_case_version(["e1", "e2"], 0), *others}) == 4
