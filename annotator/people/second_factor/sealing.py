"""Encrypt the keys of authenticator apps in the database, if the operator gives a key (Fernet: AES-128-CBC with HMAC-SHA-256).

Without one they are stored as they are. What was stored without a key stays readable with one.
"""

import base64
import hashlib
from pathlib import Path

from annotator.domain.errors import ValidationError
from annotator.people.second_factor.records import UnreadableSecret

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
