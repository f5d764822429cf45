"""A lead's pages make the libraries of the pages Agreement and Evaluation ready; an annotator's do not."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from annotator.domain.people import Role
from annotator.web import main_page


def test_what_the_pages_agreement_and_evaluation_need_is_imported_in_the_background_and_nothing_more_by_first_figures() -> (
    None
):
    script = """
import sys
from annotator.web.main_page import preload
preload().join()
ready = set(sys.modules)
print([name in ready for name in ('numpy', 'scipy.sparse', 'altair', 'annotator.agreement.service')])
from annotator.web.evaluation.page import TABS
from annotator.evaluation.dataset_analysis.robustness import PairGrades, measure_robustness
from tests.unit.evaluation.test_evaluate import evaluate, make_system
ready |= {name for name in sys.modules if name.startswith("tests.")}
evaluation = evaluate(make_system("one", 1, good=0.9), make_system("two", 2, good=0.5), measures=())
measure_robustness(evaluation, [PairGrades("q01", "a", 3, {"ann": 2, "bob": 3})])
__import__(f"annotator.web.evaluation.{next(iter(TABS.values()))[0]}")
libraries = ("annotator", "numpy", "scipy", "pandas", "pytrec_eval", "ir_measures")
print(sorted(name for name in set(sys.modules) - ready if name.split(".")[0] in libraries))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[-3:-1] == ["[True, True, True, True]", "[]"]


def test_the_evaluation_page_imports_no_charts_before_a_tab_is_opened() -> None:
    script = (
        "import sys, annotator.web.evaluation.page, "
        "annotator.web.evaluation.choice; "
        "print([name for name in ('pandas', 'altair', 'scipy.stats') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[-2] == "[]"


@pytest.mark.parametrize(("role", "begun"), [("annotator", 0), ("lead", 1), ("admin", 1), (None, 0)])
def test_it_begins_once_a_lead_has_seen_a_page(
    role: Role | None, begun: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    page: Any = SimpleNamespace(module="drawn")
    person = SimpleNamespace(memberships=("demo",), must_change_password=False)
    context: Any = SimpleNamespace(role=role, person=person, dataset=None, is_archived=False)
    monkeypatch.setattr(main_page, "list_pages", lambda *_: [page])
    monkeypatch.setattr(
        main_page, "import_module", lambda _: SimpleNamespace(draw=lambda _: done.append("drawn"))
    )
    monkeypatch.setattr(main_page, "preload", lambda: done.append("preload"))
    main_page._draw_page(page, context)
    assert done == ["drawn"] + ["preload"] * begun
