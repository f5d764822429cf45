"""What a gate of a release is: what it requires, what was measured, whether it is met, and why it was overridden."""

from dataclasses import asdict, dataclass
from typing import Any

DIGITS = 6

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Override:
    """Why a release went out although a gate was not met. `by` is the lead's pseudonym."""

    reason: str
    by: str


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate. `measured` is None when undefined; `why` says so, or which work is missing; None when met (a met
    `coverage` may say that nothing is required, a met `quality_control` what it rests on).

    `examples`: the first 20 of what is missing, as names: (query_id, doc_id), (query_id,), or
    (requirement, required, measured).
    """

    name: str
    required: float
    measured: float | None
    met: bool
    override: Override | None = None
    why: str | None = None  # a Message; a text as it was published where a manifest tells of it
    examples: tuple[Names, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """What a manifest keeps: everything but the examples."""
        return {name: value for name, value in asdict(self).items() if name != "examples"}
