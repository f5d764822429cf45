"""Rules for codes: authenticator keys and their encryption, time-based codes, and recovery codes.

Codes are those of RFC 6238 as every authenticator app makes them: SHA-1, six digits, steps of 30 seconds, by pyotp. Authenticator
keys are encrypted in the database if the operator gives a key (Fernet: AES-128-CBC with HMAC-SHA-256). Without one they are stored
as they are. What was stored without a key stays readable with one.
"""

import base64
import hashlib
import hmac
import unicodedata
from datetime import datetime
from pathlib import Path

from annotator.domain.errors import ValidationError
from annotator.people.credentials import digest_token, make_one_time_password
from annotator.people.second_factor.records import UnreadableSecret

STEP_SECONDS = 30
DRIFT = 1  # steps by which the two clocks may differ, either way
DIGITS = 6
RECOVERY_CODES = 10


def derive_secret(token: str) -> str:
    """Return the authenticator key that this half sign-in sets up: 160 bits in base 32.

    It is derived from the token, which only the browser has. So nothing is stored before the person confirms it.
    """
    digest = hmac.digest(token.encode("utf-8", "surrogatepass"), b"second factor", "sha256")
    return base64.b32encode(digest[:20]).decode("ascii")


def make_provisioning_uri(secret: str, username: str) -> str:
    """Return the otpauth address that the QR code contains."""
    from pyotp import TOTP

    return TOTP(secret).provisioning_uri(name=username, issuer_name="Annotator")


def normalize_code(typed: str) -> str:
    """Return the code without spaces and hyphens, in lower case and half width."""
    normal = unicodedata.normalize("NFKC", typed).lower()
    return "".join(character for character in normal if not character.isspace() and character != "-")


def is_app_code(code: str) -> bool:
    """Return whether this has the form of an app's code, not of a recovery code."""
    return len(code) == DIGITS and code.isascii() and code.isdigit()


def find_step(secret: str, code: str, *, now: datetime) -> int | None:
    """Return the number of the 30-second step near `now` that has this code, or None if the code is wrong."""
    from pyotp import TOTP

    generator = TOTP(secret, digits=DIGITS, interval=STEP_SECONDS)
    present = int(now.timestamp()) // STEP_SECONDS
    right = [
        step
        for step in range(present - DRIFT, present + DRIFT + 1)
        if hmac.compare_digest(generator.generate_otp(step).encode(), code.encode("utf-8", "surrogatepass"))
    ]
    return right[-1] if right else None


def make_recovery_codes() -> tuple[str, ...]:
    """Return new codes of sixteen random letters and digits: about 79 bits each, too many to guess from their hashes."""
    return tuple(make_one_time_password() for _ in range(RECOVERY_CODES))


def digest_recovery_code(code: str) -> str:
    """Return the hash to store of a recovery code, however it is typed."""
    return digest_token(normalize_code(code))


SHORTEST_KEY = 32  # bytes of the file
PLAIN, SEALED = "plain:", "fernet:"


def read_sealing_key(path: Path | None) -> bytes | None:
    """Return the key in this file, or None without a file. Raises ValidationError if it is unreadable or too short."""
    if path is None:
        return None
    try:
        content = path.read_bytes().strip()
    except OSError as error:
        raise ValidationError(f"ANNOTATOR_SECOND_FACTOR_KEY_FILE: {path}: {error.strerror}") from None
    if len(content) < SHORTEST_KEY:
        raise ValidationError(
            f"ANNOTATOR_SECOND_FACTOR_KEY_FILE: {path}: expected at least {SHORTEST_KEY} random bytes, found {len(content)}"
        )
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest())


def seal_secret(secret: str, key: bytes | None) -> str:
    """Return the secret as it is stored: encrypted if there is a key."""
    if key is None:
        return PLAIN + secret
    from cryptography.fernet import Fernet

    return SEALED + Fernet(key).encrypt(secret.encode("ascii")).decode("ascii")


def unseal_secret(stored: str, key: bytes | None) -> str:
    """Return the secret. Raises UnreadableSecret without the key it was stored with."""
    if stored.startswith(PLAIN):
        return stored.removeprefix(PLAIN)
    if key is None:
        raise UnreadableSecret
    from cryptography.fernet import Fernet, InvalidToken

    try:
        return Fernet(key).decrypt(stored.removeprefix(SEALED)).decode("ascii")
    except InvalidToken:
        raise UnreadableSecret from None
