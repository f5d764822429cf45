"""What is refused before anything is signed, or before a signature is believed."""

from pathlib import Path

import pytest

from annotator.domain.errors import ValidationError
from annotator.releases.verify.signing import MOST_OF_A_SIGNATURE, check_key, check_signature
from annotator.releases.writing.files import SIGNATURE, SUMS


def test_a_key_that_is_no_file_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=r"--sign: expected a key file, found none at .*absent"):
        check_key(tmp_path / "absent")
    with pytest.raises(ValidationError, match="--sign: expected a key file"):
        check_key(tmp_path)


def test_a_signature_that_is_missing_or_enormous_is_none(tmp_path: Path) -> None:
    signers = tmp_path / "lead.pub"
    signers.write_text("ssh-ed25519 AAAA lead\n")
    (tmp_path / SUMS).write_text("0  qrels.trec.txt\n")
    expected = [(SIGNATURE, "a signature by lead.pub", "none")]
    for text in (None, "x" * (MOST_OF_A_SIGNATURE + 1)):
        if text is not None:
            (tmp_path / SIGNATURE).write_text(text)
        signer, faults, _ = check_signature(tmp_path, signers)
        assert signer is None
        assert [(fault.path, fault.expected, fault.found) for fault in faults] == expected


def test_without_what_was_signed_there_is_nothing_to_believe(tmp_path: Path) -> None:
    signers = tmp_path / "lead.pub"
    signers.write_text("ssh-ed25519 AAAA lead\n")
    (tmp_path / SIGNATURE).write_text("-----BEGIN SSH SIGNATURE-----\n")
    _, faults, _ = check_signature(tmp_path, signers)
    assert [(fault.path, fault.expected) for fault in faults] == [(SUMS, "what was signed")]
