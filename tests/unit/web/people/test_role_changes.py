"""What a change of role causes is said before it is saved."""

import pytest

from annotator.web.people.words import NO_ROLE, ROLE_EFFECTS, list_consequences

LEAVES = "They lose access."
SEES = "They can no longer judge a pair once they have seen its judgments."
ENDS = "They no longer see other people's judgments or settle disagreements."


@pytest.mark.parametrize(
    ("held", "chosen", "said"),
    [
        ("lead", "lead", []), (NO_ROLE, NO_ROLE, []),
        (NO_ROLE, "annotator", [ROLE_EFFECTS["annotator"]]),
        ("annotator", "lead", [ROLE_EFFECTS["lead"], SEES]), ("lead", "admin", [ROLE_EFFECTS["admin"]]),
        ("admin", "lead", [ROLE_EFFECTS["lead"]]), ("lead", "annotator", [ROLE_EFFECTS["annotator"], ENDS]),
        ("annotator", NO_ROLE, [LEAVES]), ("admin", NO_ROLE, [LEAVES, ENDS]),
    ],
)  # fmt: skip
def test_each_change_names_its_consequences(held: str, chosen: str, said: list[str]) -> None:
    consequences = list_consequences(held, chosen, invitations=0)
    assert len(consequences) == len(said)
    for consequence, beginning in zip(consequences, said, strict=True):
        assert consequence.startswith(beginning)


@pytest.mark.parametrize(
    ("held", "chosen", "warned"),
    [("lead", "annotator", True), ("admin", "lead", True), ("lead", NO_ROLE, True), ("lead", "admin", False)],
)
def test_open_invitations_are_named_where_a_role_gets_weaker(held: str, chosen: str, warned: bool) -> None:
    said = " ".join(list_consequences(held, chosen, invitations=2))
    assert ("2 open invitations made by them stop working" in said) is warned
