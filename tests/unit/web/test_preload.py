"""A lead's pages make the libraries of the agreement page ready; an annotator's do not."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from annotator.domain.people import Role
from annotator.web import main_page


def test_what_the_agreement_page_needs_is_imported_in_the_background() -> None:
    script = (
        "import sys; from annotator.web.main_page import preload; preload().join(); "
        "print([name in sys.modules for name in ('numpy', 'scipy.sparse', 'altair', 'annotator.agreement.service')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[-2] == "[True, True, True, True]"


@pytest.mark.parametrize(("role", "begun"), [("annotator", 0), ("lead", 1), ("admin", 1), (None, 0)])
def test_it_begins_once_a_lead_has_seen_a_page(
    role: Role | None, begun: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    page: Any = SimpleNamespace(module="drawn")
    context: Any = SimpleNamespace(role=role, person=None, dataset=None)
    monkeypatch.setattr(main_page, "list_pages", lambda *_: [page])
    monkeypatch.setattr(
        main_page, "import_module", lambda _: SimpleNamespace(draw=lambda _: done.append("drawn"))
    )
    monkeypatch.setattr(main_page, "preload", lambda: done.append("preload"))
    main_page._draw_page(page, context)
    assert done == ["drawn"] + ["preload"] * begun
