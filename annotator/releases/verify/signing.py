"""Sign SHA256SUMS with an OpenSSH key and check such a signature, which a remade checksum cannot imitate.

Uses `ssh-keygen -Y sign` (OpenSSH 8.1 or newer): publishers have such a key in a file, an agent or a hardware token, no
library is needed, and anybody can check a release without this program. The private key is only named to ssh-keygen, never
read, copied or logged here.
"""

import os
import shutil
import subprocess
from pathlib import Path

from annotator.domain.errors import StateError, ValidationError
from annotator.domain.messages import say
from annotator.formats.syntax.partial_files import hold_temporary_folder
from annotator.releases.verify.read_back import ReleaseFault, is_plain
from annotator.releases.writing.files import SIGNATURE, SUMS

PROGRAM = "ssh-keygen"
NAMESPACE = "annotator-release"  # a signature made for something else is none of a release
ANYBODY = "release"  # under which name a bare public key is checked
MOST_OF_A_SIGNATURE = 100_000  # bytes
KEY_KINDS = ("ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-")


def check_key(key: Path) -> None:
    """Raise ValidationError or StateError if the key cannot sign; called before anything is written.

    Signs an empty text without asking anybody. A key that asks (for its passphrase, for a touch) is only known to be
    good when the release is signed.
    """
    if not key.is_file():
        raise ValidationError(f"--sign: expected a key file, found none at {key}")
    if _is_in_hardware(key):
        return
    signature, result = _sign_text("", key, may_ask=False)
    if signature is None and b"incorrect passphrase" not in result.stderr:
        raise StateError(say("ssh-keygen could not sign the release: {why}", why=_describe_failure(result)))


def sign(sums: str, key: Path) -> str:
    """Return the signature over the text of SHA256SUMS. StateError if ssh-keygen cannot sign it.

    ssh-keygen asks for the passphrase of a key at the terminal.
    """
    signature, result = _sign_text(sums, key, may_ask=True)
    if signature is None:
        raise StateError(say("ssh-keygen could not sign the release: {why}", why=_describe_failure(result)))
    return signature


def _sign_text(
    text: str, key: Path, *, may_ask: bool
) -> tuple[str | None, "subprocess.CompletedProcess[bytes]"]:
    """Return (signature of the text or None, the finished ssh-keygen process).

    The text goes through a file: if ssh-keygen had it from a pipe, it would ask for a passphrase in a window.
    """
    with hold_temporary_folder("signing") as private:
        path = private / SUMS
        path.write_bytes(text.encode())
        arguments = ("-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(path))
        result = _run(*arguments, data=None) if may_ask else _run_without_asking(*arguments)
        made = private / SIGNATURE
        signature = made.read_bytes() if made.is_file() else b""
    if result.returncode or not signature.startswith(b"-----BEGIN SSH SIGNATURE-----"):
        return None, result
    return signature.decode("ascii"), result


def _is_in_hardware(key: Path) -> bool:
    """Return whether a security key holds the key, so that every signature needs a touch."""
    return b"-SK)" in _run_without_asking("-l", "-f", str(key)).stdout


def check_signature(folder: Path, signers: Path | None) -> tuple[str | None, list[ReleaseFault], list[str]]:
    """Return (signer or None, faults of the signature, sentences about what remains unproven).

    `signers`: a public key or a file of allowed signers (ssh-keygen(1), "ALLOWED SIGNERS"); None: no signature is
    required.
    """
    path = folder / SIGNATURE
    if signers is None:
        signed = "its signature was not checked (--signed-by)" if path.is_file() else "it is not signed"
        return (
            None,
            [],
            [
                f"that nobody changed all files consistently, checksums included: only a signature proves it, and {signed}"
            ],
        )
    if not signers.is_file():
        raise ValidationError(
            f"--signed-by: expected a public key or a file of allowed signers, found none at {signers}"
        )
    if not is_plain(path) or path.stat().st_size > MOST_OF_A_SIGNATURE:
        return None, [ReleaseFault(SIGNATURE, f"a signature by {signers.name}", "none")], []
    if not is_plain(folder / SUMS):
        return None, [ReleaseFault(SUMS, "what was signed", "none")], []
    sums = (folder / SUMS).read_bytes()
    with hold_temporary_folder("signers") as private:
        allowed = _list_allowed(signers, private)
        search = _run("-Y", "find-principals", "-s", str(path), "-f", str(allowed))
        names = [line for line in search.stdout.decode("utf-8", "replace").splitlines() if line]
        for name in names:
            arguments = ("-Y", "verify", "-f", str(allowed), "-I", name, "-n", NAMESPACE, "-s", str(path))
            if not _run(*arguments, data=sums).returncode:
                return signers.name if name == ANYBODY else name, [], []
    why = f"one of {SUMS} as it was before, or for something else" if names else "one of another key, or none"
    return None, [ReleaseFault(SIGNATURE, f"a signature of {SUMS} by {signers.name}", why)], []


def _list_allowed(signers: Path, folder: Path) -> Path:
    """Return a file of allowed signers: the given one, or one that allows the public key."""
    try:
        text = signers.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise ValidationError(
            f"--signed-by: expected a text file of keys, found another at {signers}"
        ) from None
    if "PRIVATE KEY" in text:
        raise ValidationError(
            f"--signed-by: expected a public key, found a private one at {signers}: keep that one to yourself"
        )
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if lines and all(line.startswith(KEY_KINDS) for line in lines):
        text = "".join(f"{ANYBODY} {line}\n" for line in lines)
    allowed = folder / "allowed"
    allowed.write_text(text, encoding="utf-8", newline="")
    return allowed


def _find_program() -> str:
    program = shutil.which(PROGRAM)
    if program is None:
        raise StateError(
            say(
                "Signing and checking signatures need ssh-keygen (OpenSSH 8.1 or newer). Install it on this "
                "computer."
            )
        )
    return program


def _run_without_asking(*arguments: str) -> "subprocess.CompletedProcess[bytes]":
    """Run ssh-keygen so that it cannot ask for a passphrase, neither in the terminal nor in a window."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")
    }
    return subprocess.run(
        [_find_program(), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        start_new_session=True,
        env={**environment, "SSH_ASKPASS_REQUIRE": "never"},
    )


def _run(*arguments: str, data: bytes | None = b"") -> "subprocess.CompletedProcess[bytes]":
    """Run ssh-keygen on `data`; if that is None, with the terminal of this program."""
    return subprocess.run([_find_program(), *arguments], input=data, capture_output=True, check=False)


def _describe_failure(result: "subprocess.CompletedProcess[bytes]") -> str:
    lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"it ended with {result.returncode}"
