"""Sign SHA256SUMS with an OpenSSH key and check such a signature, which a remade checksum cannot imitate.

Uses `ssh-keygen -Y sign` (OpenSSH 8.1 or newer): publishers have such a key in a file, an agent or a hardware token, no
library is needed, and anybody can check a release without this program. The private key is only named to ssh-keygen, never
read, copied or logged here.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

from annotator.domain.errors import StateError, ValidationError
from annotator.domain.messages import say
from annotator.releases.files import SIGNATURE, SUMS
from annotator.releases.read_back import ReleaseFault, is_plain

PROGRAM = "ssh-keygen"
NAMESPACE = "annotator-release"  # a signature made for something else is none of a release
ANYBODY = "release"  # under which name a bare public key is checked
MOST_OF_A_SIGNATURE = 100_000  # bytes
KEY_KINDS = ("ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-")


def check_key(key: Path) -> None:
    """ValidationError or StateError when nothing can be signed with this key; asked before anything is written."""
    if not key.is_file():
        raise ValidationError(f"--sign: expected a key file, found none at {key}")
    _find_program()


def sign(sums: str, key: Path) -> str:
    """The signature over the text of SHA256SUMS. ssh-keygen asks for a passphrase where the key has one, at the terminal: so the
    text goes through a file, as ssh-keygen would look for a window to ask in if it had the text from a pipe. StateError when
    it cannot sign."""
    with tempfile.TemporaryDirectory(prefix="annotator-signing-") as private:
        path = Path(private) / SUMS
        path.write_bytes(sums.encode())
        done = _run("-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(path), data=None)
        made = Path(private) / SIGNATURE
        signature = made.read_bytes() if made.is_file() else b""
    if done.returncode or not signature.startswith(b"-----BEGIN SSH SIGNATURE-----"):
        raise StateError(say("ssh-keygen could not sign the release: {why}", why=_say_why(done)))
    return signature.decode("ascii")


def check_signature(folder: Path, signers: Path | None) -> tuple[str | None, list[ReleaseFault], list[str]]:
    """Whose signature the folder bears, what is wrong with it, and what remains unproven, in sentences.

    `signers`: a public key or a file of allowed signers (ssh-keygen(1), "ALLOWED SIGNERS"); None: nobody asked.
    """
    path = folder / SIGNATURE
    if signers is None:
        signed = "its signature was not checked (--signed-by)" if path.is_file() else "it is not signed"
        return (
            None,
            [],
            [
                f"whoever changes every file, checksums included, so that all agree leaves no trace but in a signature: {signed}"
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
    with tempfile.TemporaryDirectory(prefix="annotator-signers-") as private:
        allowed = _list_allowed(signers, Path(private))
        found = _run("-Y", "find-principals", "-s", str(path), "-f", str(allowed))
        names = [line for line in found.stdout.decode("utf-8", "replace").splitlines() if line]
        for name in names:
            arguments = ("-Y", "verify", "-f", str(allowed), "-I", name, "-n", NAMESPACE, "-s", str(path))
            if not _run(*arguments, data=sums).returncode:
                return signers.name if name == ANYBODY else name, [], []
    why = f"one of {SUMS} as it was before, or for something else" if names else "one of another key, or none"
    return None, [ReleaseFault(SIGNATURE, f"a signature of {SUMS} by {signers.name}", why)], []


def _list_allowed(signers: Path, folder: Path) -> Path:
    """A file of allowed signers: what the given one says, or one that allows the public key."""
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
    found = shutil.which(PROGRAM)
    if found is None:
        raise StateError(
            say(
                "signing and checking signatures need ssh-keygen (OpenSSH 8.1 or newer), and it is not on this computer"
            )
        )
    return found


def _run(*arguments: str, data: bytes | None = b"") -> "subprocess.CompletedProcess[bytes]":
    """Run ssh-keygen on `data`, or with the terminal of this program where that is None."""
    return subprocess.run([_find_program(), *arguments], input=data, capture_output=True, check=False)


def _say_why(done: "subprocess.CompletedProcess[bytes]") -> str:
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"it ended with {done.returncode}"
