"""A key that both panels use means the same while labeling and while deciding."""

import re
from pathlib import Path

WEB = Path(__file__).parents[4] / "annotator" / "web"


def list_keys(path: str) -> list[str]:
    """Return every key that the lists of a script give a meaning, in both directions they are written in."""
    script = (WEB / path).read_text(encoding="utf-8").split("BUTTONS")[0]
    lists = "".join(re.findall(r"_KEYS = \{(.*?)\}", script, re.DOTALL))
    causes = re.findall(r'\w{3,}: "(\w)"', lists)
    return causes + re.findall(r'(?<=[\s{"])(\w|[/?\[\]]|Enter|Backspace)"?: "\w{2,}"', lists)


def test_no_key_has_two_meanings() -> None:
    shared = list_keys("kit/panel/shared_keys.js")
    labeling = list_keys("labeling/panel/labeling_keys.js")
    deciding = list_keys("adjudication/panel/decision_keys.js")
    assert (len(shared), len(labeling), len(deciding)) == (12, 4, 12)
    assert len({*shared, *labeling, *deciding}) == 28
