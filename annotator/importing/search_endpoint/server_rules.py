"""Limit the fetches that the server makes for a person in a browser. An operator's command may do more.

Refused: a host that the server's operator does not allow (`ANNOTATOR_SEARCH_HOSTS`), a variable whose name
does not begin with SEARCH_, a file of the server (`ca_file`), and numbers above the limits here. The
dataset's own list of hosts also applies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotator.domain.errors import BadInput, FormatError, NotAllowed, ValidationError
from annotator.domain.figures import show_decimals
from annotator.domain.messages import say
from annotator.importing.search_endpoint.client import DEFAULT_PORTS, find_origin
from annotator.importing.search_endpoint.endpoint_records import EndpointSpec
from annotator.importing.search_endpoint.request_template import list_variables

VARIABLE_PREFIX = "SEARCH_"
MOST_DEPTH = 1_000
MOST_SECONDS = 3 * 3_600  # of a fetch; the same fetch goes on afterwards
MOST_FILE_BYTES = 1_000_000_000
BOUNDS: Mapping[str, float] = {
    "concurrency": 4,
    "timeout_seconds": 60,
    "attempts": 4,
    "max_wait_seconds": 120,
    "max_megabytes": 16,
}
LEAST_MASKED = 4  # characters; a shorter value is no secret, and replacing it would garble every text


@dataclass(frozen=True, slots=True)
class ServerRules:
    """The rules of a fetch by the server. `hosts`: allowed by its operator, as HOST or HOST:PORT."""

    hosts: tuple[str, ...]
    most_depth: int = MOST_DEPTH
    most_seconds: float = MOST_SECONDS
    most_file_bytes: int = MOST_FILE_BYTES

    def require_host(self, url: str, allowed_by_dataset: Sequence[str]) -> str:
        """Return the host of an address as HOST:PORT. NotAllowed unless the operator and the dataset allow it."""
        host, names = name_host(url)
        if not names & set(self.hosts):
            raise NotAllowed(
                say(
                    "This server may not send requests to {host}: its operator has not allowed it. Nothing was sent.",
                    host=host,
                )
            )
        if not names & set(allowed_by_dataset):
            raise NotAllowed(
                say(
                    "This dataset does not allow requests to {host}. A lead allows it on the page Settings, under Search hosts. "
                    "Nothing was sent.",
                    host=host,
                )
            )
        return host

    def check_spec(self, spec: EndpointSpec, depth: int) -> None:
        """Raise BadInput with every part of a spec that the server refuses."""
        problems = [*_list_problems(spec)]
        if problems:
            raise BadInput([FormatError(spec.path, None, expected, found) for expected, found in problems])
        if not 1 <= depth <= self.most_depth:
            raise ValidationError(
                say(
                    "The number of results per query must be from 1 to {most:,}, not {depth:,}.",
                    most=self.most_depth,
                    depth=depth,
                )
            )


def name_host(url: str) -> tuple[str, set[str]]:
    """Return the host of an address as HOST:PORT, and all names that allow it in a list."""
    scheme, name, port = find_origin(url)
    host = f"[{name}]" if ":" in name else name
    return f"{host}:{port}", {f"{host}:{port}"} | ({host} if port == DEFAULT_PORTS[scheme] else set())


def list_usable_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables that a spec from a browser may name."""
    return {name: value for name, value in environment.items() if name.startswith(VARIABLE_PREFIX)}


def mask_variables(text: str, environment: Mapping[str, str]) -> str:
    """Return a text without the values of variables that may hold secrets, for a log."""
    values = sorted(list_usable_variables(environment).values(), key=len, reverse=True)
    for value in values:
        if len(value) >= LEAST_MASKED:
            text = text.replace(value, "***")
    return text


def _list_problems(spec: EndpointSpec) -> list[tuple[str, str]]:
    """Return (expected, found) for each rule that the spec breaks."""
    problems: list[tuple[str, str]] = []
    if spec.ca_file is not None:
        problems.append(
            (
                say("ca_file to be left out: a spec in the browser names no file of the server"),
                "ca_file",
            )
        )
    templates = [*spec.headers.values(), *(spec.basic_auth or ())]
    names = dict.fromkeys(name for text in templates for name in list_variables(text))
    problems += [
        (say("only variables whose name begins with {prefix}", prefix=VARIABLE_PREFIX), f"${{{name}}}")
        for name in names
        if not name.startswith(VARIABLE_PREFIX)
    ]
    for name, most in BOUNDS.items():
        value = getattr(spec.limits, name)
        if value > most:
            problems.append(
                (
                    say("{name} to be at most {most} in the browser", name=name, most=f"{most:g}"),
                    show_decimals(value),
                )
            )
    return problems
