"""What may be a username or a person's name. Names are brought into Unicode NFC; nothing else is changed."""

import unicodedata

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say

LONGEST_USERNAME = 100
LONGEST_NAME = 200


def check_username(username: str) -> str:
    """The username in NFC. ValidationError when it is empty, too long, holds white space, a control
    character or "/", or starts with "-" (it could not be named on a command line)."""
    normal = unicodedata.normalize("NFC", username)
    bad = any(character.isspace() or _is_control(character) or character == "/" for character in normal)
    if not normal or len(normal) > LONGEST_USERNAME or bad or normal.startswith("-"):
        raise ValidationError(
            say(
                "expected a username without white space, '/' or a leading '-', up to {most} characters, found {found!r}",
                most=LONGEST_USERNAME,
                found=username[:LONGEST_USERNAME],
            )
        )
    return normal


def check_name(name: str) -> str:
    """A person's name as people write it, in NFC and without surrounding white space."""
    normal = unicodedata.normalize("NFC", name).strip()
    if len(normal) > LONGEST_NAME or any(_is_control(character) for character in normal):
        raise ValidationError(say("expected a name of one line, up to {most} characters", most=LONGEST_NAME))
    return normal


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs")
