"""The labeling panel is told every word that its modules ask for, and its sheet names every key."""

import re

from annotator.web.kit.components import join_modules
from annotator.web.labeling.label_page import FOLDER as PANEL
from annotator.web.labeling.label_page import list_keys, panel_words


def test_every_word_that_a_script_asks_for_is_told() -> None:
    script = join_modules(PANEL / "panel.js")
    requested = set(re.findall(r"\bwords\.(\w+)", script))
    requested |= {f"do_{act}" for act in re.findall(r'\["(\w+)", "[a-z?]?"\]', script)}
    assert len(requested) > 100
    assert requested - set(panel_words()) == set()


def test_the_sheet_names_every_key() -> None:
    files = (PANEL / "labeling_keys.js", PANEL.parents[1] / "kit" / "panel" / "shared_keys.js")
    keys = "".join(path.read_text(encoding="utf-8") for path in files)
    letters = set(re.findall(r'(?<=[ {"])([a-z/?\[\]])"?: "', keys))
    assert len(letters) > 10
    assert letters <= {key for keys, _meaning in list_keys() for key in keys}
