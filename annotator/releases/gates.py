"""The gates of a release: what it needs, what was measured, and what a lead overrode and why. Pure rules.

`kappa`: the dataset's unweighted Cohen's kappa reaches the setting `kappa_target`; undefined is not met.
`disagreements`: none is open. A gate that is not met stops a release unless a lead overrides it with a reason,
which the manifest keeps. Overriding a gate that is met changes nothing and is not kept: nothing was overridden.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from annotator.domain.errors import ValidationError

DIGITS = 6
MAX_REASON = 10_000


@dataclass(frozen=True, slots=True)
class Override:
    """Why a release went out although a gate was not met. `by` is the lead's pseudonym."""

    reason: str
    by: str


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate. `measured` is None when undefined; `why` says so, or what is missing; None when met."""

    name: str
    required: float
    measured: float | None
    met: bool
    override: Override | None = None
    why: str | None = None


def check_kappa(target: float, value: float | None, why: str | None) -> Gate:
    """Kappa (rounded to six digits, so that 0.7 is 0.7 on every machine) against its target."""
    if value is None:
        return Gate("kappa", target, None, False, why=why or "Cohen's kappa is undefined")
    measured = round(value, DIGITS)
    met = measured >= target
    return Gate("kappa", target, measured, met, why=None if met else f"{measured} is below {target}")


def check_disagreements(opened: int) -> Gate:
    """No open disagreement."""
    why = f"{opened} open: decide them (annotator disagreements, annotator adjudicate)" if opened else None
    return Gate("disagreements", 0, opened, not opened, why=why)


def override_gates(gates: Sequence[Gate], reasons: Mapping[str, str], *, by: str) -> tuple[Gate, ...]:
    """The gates with their overrides. ValidationError for a name that is no gate, or a reason without words."""
    names = [gate.name for gate in gates]
    for name, reason in reasons.items():
        if name not in names:
            raise ValidationError(f"no gate named {name!r}; there are: {', '.join(names)}")
        if not reason.strip() or "\0" in reason or len(reason) > MAX_REASON:
            raise ValidationError(f"override of {name}: expected a reason in words, found {reason[:40]!r}")
    return tuple(
        replace(gate, override=Override(reasons[gate.name].strip(), by))
        if gate.name in reasons and not gate.met
        else gate
        for gate in gates
    )


def explain(gates: Iterable[Gate], open_pairs: Sequence[tuple[str, str]]) -> str:
    """What is missing for a release, for people; "" when nothing is. `open_pairs`: some to name."""
    missing = [gate for gate in gates if not gate.met and gate.override is None]
    lines = []
    for gate in missing:
        lines.append(f"- {gate.name}: {gate.why}")
        if gate.name == "disagreements":
            lines += [f"    {query_id}  {doc_id}" for query_id, doc_id in open_pairs]
            hidden = int(gate.measured or 0) - len(open_pairs)
            lines += [f"    and {hidden} more"] if hidden > 0 else []
    if not lines:
        return ""
    how = " ".join(f"--override {gate.name}=REASON" for gate in missing)
    return "\n".join(["not ready to be published:", *lines, f"or publish nevertheless, with a reason: {how}"])
