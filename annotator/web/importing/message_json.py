"""Write messages as JSON and read them back, so that a page can translate the sentences of another process."""

from typing import Any

from annotator.domain.messages import CommandWords, Message
from annotator.web.importing.words import name_field
from annotator.web.kit.messages import tr


def to_json(value: Any) -> Any:
    """Return a text or a Message for JSON, with its values; also lists of them."""
    if isinstance(value, Message):
        values = {name: to_json(item) for name, item in value.values.items()}
        return {"template": value.template, "plural": value.plural, "n": value.n, "values": values}
    if isinstance(value, CommandWords):
        return {"command_words": str(value), "on_page": to_json(value.on_page)}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)


def show_text(value: Any) -> str:
    """Return a text or a Message that `to_json` wrote in the reader's language, without words of commands."""
    return tr(read_message(value))


def read_message(value: Any) -> str:
    """Return the text or the Message that `to_json` wrote."""
    if isinstance(value, dict) and "template" in value:
        values = {
            name: read_message(item) if isinstance(item, dict) else item
            for name, item in value["values"].items()
        }
        return Message(value["template"], values, plural=value["plural"], n=value["n"])
    if isinstance(value, dict):
        on_page = value["on_page"]
        return name_field(value["command_words"]) if on_page is None else read_message(on_page)
    return str(value)
