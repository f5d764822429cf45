"""The chain of the audit log: what verification finds, without a database."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from annotator.audit.records import REMOVED, AuditEntry, AuditHead, PersonalValue, read_head, verify_chain
from annotator.domain.audit import (
    FIRST_PREVIOUS,
    LONGEST_DETAILS,
    AuditAction,
    ChainedEntry,
    PersonalField,
    commit_to,
    encode_canonically,
    encode_details,
)
from annotator.domain.errors import ValidationError

AT = datetime(2026, 3, 4, 5, 6, 7, 890, tzinfo=UTC)


def make_entry(previous: AuditEntry | None, number: int, **changes: str) -> AuditEntry:
    value = PersonalValue("actor", 7, f"花子{number}", f"{number:032x}")
    commitments: dict[PersonalField, str | None] = {
        "actor": commit_to("actor", 7, value.value, value.salt or ""),
        "subject": None,
        "address": None,
    }
    chained = ChainedEntry(
        sequence=number,
        at=AT + timedelta(seconds=number),
        action=changes.get("action", "signed_in"),
        actor_kind="person",
        source="web",
        request_id=None,
        dataset="d",
        object="",
        details=changes.get("details", "{}"),
        commitments=commitments,
        previous=previous.sha256 if previous else FIRST_PREVIOUS,
    )
    return AuditEntry(chained, chained.compute_hash(), {"actor": value})


def make_chain(length: int) -> list[AuditEntry]:
    chain: list[AuditEntry] = []
    for number in range(1, length + 1):
        chain.append(make_entry(chain[-1] if chain else None, number))
    return chain


def test_a_whole_chain_holds_and_its_head_is_the_last_entry() -> None:
    chain = make_chain(5)
    found = verify_chain(chain)
    assert found.problem is None
    assert (found.entries, found.head) == (5, AuditHead(5, chain[-1].sha256))


def test_no_entry_at_all_holds() -> None:
    assert verify_chain([]).problem is None


def change_dataset(chain: list[AuditEntry]) -> None:
    chain[2] = replace(chain[2], chained=replace(chain[2].chained, dataset="other"))


def change_and_hash_again(chain: list[AuditEntry]) -> None:
    chained = replace(chain[2].chained, action="signed_out")
    chain[2] = replace(chain[2], chained=chained, sha256=chained.compute_hash())


def leave_out(chain: list[AuditEntry]) -> None:
    del chain[2]


def exchange(chain: list[AuditEntry]) -> None:
    chain[2], chain[3] = chain[3], chain[2]


def leave_out_a_number(chain: list[AuditEntry]) -> None:
    del chain[2:]
    chain.append(make_entry(chain[-1], 4))


def rename(chain: list[AuditEntry]) -> None:
    value = replace(chain[2].personal["actor"], value="민준")
    chain[2] = replace(chain[2], personal={"actor": value})


def blame(chain: list[AuditEntry]) -> None:
    value = replace(chain[2].personal["actor"], person_pk=8)
    chain[2] = replace(chain[2], personal={"actor": value})


def name_somebody(chain: list[AuditEntry]) -> None:
    added = PersonalValue("subject", 8, "민준", "0" * 32)
    chain[2] = replace(chain[2], personal={**chain[2].personal, "subject": added})


@pytest.mark.parametrize(
    ("damage", "sequence"),
    [
        (change_dataset, 3),
        (change_and_hash_again, 4),
        (leave_out, 3),
        (exchange, 3),
        (leave_out_a_number, 3),
        (rename, 3),
        (blame, 3),
        (name_somebody, 3),
    ],
)
def test_the_first_broken_entry_is_named_with_what_was_expected_and_found(
    damage: Callable[[list[AuditEntry]], None], sequence: int
) -> None:
    chain = make_chain(6)
    damage(chain)
    problem = verify_chain(chain).problem
    assert problem is not None
    assert problem.sequence == sequence
    assert problem.expected != problem.found


def test_what_was_cut_off_at_the_end_is_seen_by_an_earlier_head_only() -> None:
    chain = make_chain(5)
    head = AuditHead(5, chain[-1].sha256)
    assert verify_chain(chain[:3]).problem is None
    problem = verify_chain(chain[:3], head_was=head).problem
    assert problem is not None and problem.sequence == 4
    assert verify_chain([*chain, make_entry(chain[-1], 6)], head_was=head).problem is None


def test_a_log_that_was_written_anew_is_seen_by_an_earlier_head() -> None:
    head = AuditHead(2, make_chain(2)[-1].sha256)
    other = [make_entry(None, 1, action="signed_out")]
    other.append(make_entry(other[0], 2))
    assert verify_chain(other).problem is None
    problem = verify_chain(other, head_was=head).problem
    assert problem is not None and problem.sequence == 2


def test_a_personal_value_may_be_gone_only_if_an_entry_accounts_for_it() -> None:
    chain = make_chain(3)
    chain[0] = replace(chain[0], personal={})
    assert verify_chain(chain).problem is not None
    details = encode_canonically({REMOVED: 1})
    chain.append(make_entry(chain[-1], 4, action=AuditAction.personal_data_removed, details=details))
    found = verify_chain(chain)
    assert (found.problem, found.removed) == (None, 1)
    pseudonym = replace(chain[1].personal["actor"], value="person-7", salt=None)
    chain[1] = replace(chain[1], personal={"actor": pseudonym})
    assert verify_chain(chain).problem is not None


def test_a_commitment_tells_nothing_without_its_salt() -> None:
    assert commit_to("actor", 7, "花子", "a" * 32) != commit_to("actor", 7, "花子", "b" * 32)


def test_the_encoding_is_the_documented_one() -> None:
    """The bytes and hashes of docs/security.md, which others compute too: never change them."""
    chained = replace(
        make_chain(1)[0].chained,
        commitments={"actor": commit_to("actor", 7, "花子", "00ff" * 8), "subject": None, "address": None},
    )
    assert chained.commitments["actor"] == "9aa83b8c28022f5c20c680e9f014422f072ac4f867ccf35aae4992694ec97161"
    assert chained.compute_hash() == "70900fc80544ccf474e17d92bfb891b6334182464b1e91e5618213d00738ddeb"


def test_details_are_short_whatever_was_given() -> None:
    assert encode_details({"b": 1, "a": ["花", None, True]}) == '{"a":["花",null,true],"b":1}'
    assert len(encode_details({"a": "x" * 10_000})) < 300
    assert len(encode_details({str(number): "x" * 150 for number in range(100)})) <= LONGEST_DETAILS
    assert "\x00" not in encode_details({"a": "\x00\ud800"})


def test_a_head_is_read_as_it_is_printed() -> None:
    head = AuditHead(12, "a" * 64)
    assert read_head(str(head)) == head
    with pytest.raises(ValidationError, match="SEQUENCE:HASH"):
        read_head("12")
