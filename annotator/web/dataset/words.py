"""Name every setting of a dataset for the page Settings, in groups, with its control.

`settings_words.yaml` has its name and what it does. A test in `tests/unit/web/dataset/` checks that every setting of
`dataset/settings.py` is in exactly one group.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from annotator.dataset.settings import SEARCH_HOSTS
from annotator.domain.ground_truth import PROFILE_NAMES
from annotator.domain.messages import Message, say
from annotator.domain.settling import MOST
from annotator.web.kit.messages import read_words, tr

Kind = Literal["text", "whole", "number", "percentage", "switch", "choice", "distance", "requirements"]

WORDS = Path(__file__).parent / "settings_words.yaml"
PROFILE_WORDS = {
    "trec": say("trec_eval (TREC, BEIR)"),
    "nablarch": say("Nablarch search evaluator"),
    "law": say("Law search evaluator"),
    "survey": say("Survey search evaluator"),
    "code": say("Code search evaluator"),
    "document": say("Document search evaluator"),
}
REQUIREMENT_WORDS = {
    "nablarch": say("Nablarch: 50 queries in five categories"),
    "law": say("Law search: 30, 100 or 500 queries"),
}
NONE_CHOSEN = say("None")
QUALITY_WORDS = {
    "bound": say("The guaranteed maximum of the error rate"),
    "rate": say("The observed error rate"),
}


@dataclass(frozen=True, slots=True)
class SettingField:
    """A setting on the page: its name, when a change takes effect, and its control.

    `low`, `high`: of a number; of a percentage as shares, 0 to 1. `choices`: {value: words}. `empty`: placeholder of a text field without a value.
    """

    name: str
    effect: Message
    kind: Kind = "text"
    low: float = 0
    high: float = 0
    choices: tuple[tuple[str, Message], ...] = ()
    empty: str = "none"

    @property
    def label(self) -> Message:
        return say(read_words(WORDS)[self.name]["label"])

    @property
    def about(self) -> Message:
        return say(read_words(WORDS)[self.name]["about"])


NEXT_RELEASE = say("Changes the next release, never a published one.")
FROM_NOW = say("Applies to pairs assigned from now on.")
AT_ONCE = say("Takes effect immediately.")

GROUPS: tuple[tuple[Message, tuple[SettingField, ...]], ...] = (
    (
        say("Name and language"),
        (SettingField("title", AT_ONCE, empty=""), SettingField("language", AT_ONCE, empty="")),
    ),
    (
        say("Labeling"),
        (
            SettingField("overlap", AT_ONCE, "whole", 1, MOST),
            SettingField("overlap_by_category", AT_ONCE),
            SettingField("overlap_share", AT_ONCE),
            SettingField("overlap_cap", AT_ONCE),
            SettingField("third_judgment_from", AT_ONCE, "distance"),
            SettingField("shown_metadata", FROM_NOW),
            SettingField("show_own_agreement", AT_ONCE, "switch"),
            SettingField("lease_minutes", FROM_NOW, "whole", 1, 10_080),
            SettingField("idle_seconds", FROM_NOW, "whole", 10, 3_600),
        ),
    ),
    (
        say("Calibration"),
        (
            SettingField("training_score", AT_ONCE, "percentage", 0, 1),
            SettingField("gold_rate", FROM_NOW, "percentage", 0, 0.5),
            SettingField("repeat_rate", FROM_NOW, "percentage", 0, 0.5),
            SettingField("repeat_after", FROM_NOW, "whole", 1, 10_000),
        ),
    ),
    (
        say("Agreement and quality control"),
        (
            SettingField("kappa_target", NEXT_RELEASE, "number", -1, 1),
            SettingField("quality_rule", NEXT_RELEASE, "choice", choices=tuple(QUALITY_WORDS.items())),
        ),
    ),
    (
        say("Disagreements"),
        (
            SettingField("second_adjudicator", say("Applies to decisions from now on."), "switch"),
            SettingField("discuss_from", AT_ONCE, "distance", empty="off"),
        ),
    ),
    (
        say("Release and evaluation"),
        (
            SettingField("requirements", NEXT_RELEASE, "requirements"),
            SettingField(
                "profile",
                AT_ONCE,
                "choice",
                choices=tuple((name, PROFILE_WORDS[name]) for name in PROFILE_NAMES),
            ),
            SettingField("list_grade_0", NEXT_RELEASE, "switch"),
        ),
    ),
    (
        say("About the dataset"),
        tuple(SettingField(name, NEXT_RELEASE) for name in ("authors", "contact", "licence", "source")),
    ),
    (
        say("Technical"),
        (
            SettingField(
                "seed", say("Changes all random orders and samples from now on."), "whole", 0, 2**31 - 1
            ),
            SettingField(SEARCH_HOSTS, AT_ONCE),
        ),
    ),
)  # the order of the page


def list_fields() -> tuple[SettingField, ...]:
    return tuple(field for _, fields in GROUPS for field in fields)


def name_setting(name: str) -> str:
    """Return the label of a setting in the reader's language, the same on every page."""
    return tr(next(field.label for field in list_fields() if field.name == name))
