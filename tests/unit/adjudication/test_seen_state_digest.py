"""What a digest of what was seen holds fast."""

from annotator.adjudication.records import digest_seen_state


def test_what_was_seen_changes_with_a_judgment_and_with_a_decision_but_not_with_the_order() -> None:
    assert digest_seen_state(["e1", "e2"], 0) == digest_seen_state(["e2", "e1"], 0)
    others = [
        digest_seen_state(["e1", "e3"], 0),
        digest_seen_state(["e1"], 0),
        digest_seen_state(["e1", "e2"], 1),
    ]
    assert len({digest_seen_state(["e1", "e2"], 0), *others}) == 4
