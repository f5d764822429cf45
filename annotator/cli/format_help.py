"""The registry's table of formats below a command's `--help`: read only when somebody asks for that help."""

from typing import Any

from typer.core import TyperCommand


class CommandOnFormats(TyperCommand):
    """A command that reads or writes ground-truth files; its help ends with what each format can and cannot hold."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        from annotator.formats.registry import list_formats

        formatter.write(f"\nFormats:\n{list_formats(in_full=True)}\n")
