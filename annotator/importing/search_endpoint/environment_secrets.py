"""Read the secrets of a search endpoint from environment variables, and keep them out of all output and
storage.

Refused: a variable that is unset or empty, and a value that no header can hold. Messages name the variable,
never its value.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field

from annotator.domain.errors import ValidationError
from annotator.importing.search_endpoint.endpoint_records import EndpointSpec
from annotator.importing.search_endpoint.spec import fill_variables, list_variables

MASK = "***"
LEAST_SECRET = 8  # characters; a shorter value may be an ordinary word of a document


@dataclass(frozen=True, slots=True)
class EndpointSecrets:
    """The headers to send, and their secret values. Its repr shows neither."""

    headers: Mapping[str, str] = field(repr=False)
    values: tuple[str, ...] = field(repr=False)

    def mask(self, text: str) -> str:
        """Return the text with every secret replaced."""
        for value in self.values:
            text = text.replace(value, MASK)
        return text

    def is_repeated_in(self, text: str) -> bool:
        """Check whether a text contains a secret of at least LEAST_SECRET characters."""
        return any(len(value) >= LEAST_SECRET and value in text for value in self.values)


def take_secrets(spec: EndpointSpec, environment: Mapping[str, str]) -> EndpointSecrets:
    """Return the headers of a spec with the variables' values."""
    templates = [*spec.headers.values(), *(spec.basic_auth or ())]
    names = list(dict.fromkeys(name for text in templates for name in list_variables(text)))
    missing = [name for name in names if not environment.get(name)]
    if missing:
        raise ValidationError(
            f"{spec.path}: expected the environment variable {missing[0]} to be set, found nothing"
            + (f" (nor {', '.join(missing[1:])})" if missing[1:] else "")
        )
    for name in names:
        value = environment[name]
        if not value.isascii() or not value.isprintable():
            raise ValidationError(
                f"{spec.path}: expected the environment variable {name} to hold printable ASCII characters "
                "(a line break at its end?), found something else"
            )
    headers = {name: fill_variables(text, environment) for name, text in spec.headers.items()}
    values = [environment[name] for name in names]
    if spec.basic_auth:
        user, password = (fill_variables(text, environment) for text in spec.basic_auth)
        encoded = base64.b64encode(f"{user}:{password}".encode()).decode()
        headers["Authorization"] = f"Basic {encoded}"
        values.append(encoded)
    # the longest first, so that no part of a secret is left where another one is masked
    return EndpointSecrets(headers, tuple(sorted(set(values), key=len, reverse=True)))
