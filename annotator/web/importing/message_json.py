"""Write messages as JSON and read them back, so that a page can translate what another process says."""

from typing import Any

from annotator.domain.messages import Message


def to_json(value: Any) -> Any:
    """Return a text or a Message for JSON; lists and mappings with what they hold."""
    if isinstance(value, Message):
        values = {name: to_json(item) for name, item in value.values.items()}
        return {"template": value.template, "plural": value.plural, "n": value.n, "values": values}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)


def read_message(value: Any) -> str:
    """Return the text or the Message that `to_json` wrote."""
    if isinstance(value, dict) and set(value) == {"template", "plural", "n", "values"}:
        values = {
            name: read_message(item) if isinstance(item, dict) else item
            for name, item in value["values"].items()
        }
        return Message(value["template"], values, plural=value["plural"], n=value["n"])
    return str(value)
