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
from annotator.web.kit.messages import tr

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

    `low`, `high`, `step`: for numbers; those of a percentage are shares, 0 to 1. `choices`: {value: words}.
    `empty`: placeholder of a text field without a value.
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
            SettingField(
                "overlap",
                say("Judgments per pair"),
                say("How many annotators judge each pair. Agreement needs at least 2."),
                AT_ONCE,
                "whole",
                1,
                MOST,
            ),
            SettingField(
                "overlap_by_category",
                say("Judgments per pair, by category"),
                say(
                    "Exceptions for categories of queries, such as howto=2,reference=1. Empty: no exceptions."
                ),
                AT_ONCE,
            ),
            SettingField(
                "overlap_share",
                say("Judgments per pair, for a share"),
                say("Such as 0.3:2 for 2 judgments on 30 % of the other pairs. Empty: all pairs alike."),
                AT_ONCE,
            ),
            SettingField(
                "overlap_cap",
                say("Maximum judgments per pair"),
                say("No rule asks for more than this. Empty: no maximum."),
                AT_ONCE,
            ),
            SettingField(
                "third_judgment_from",
                say("Third judgment when grades differ by at least"),
                say("One more annotator judges a pair whose first two grades differ by at least this much."),
                AT_ONCE,
                "distance",
            ),
            SettingField(
                "shown_metadata",
                say("Document columns that annotators see"),
                say("Further columns of the documents, such as author,year. Empty: only title and text."),
                FROM_NOW,
            ),
            SettingField(
                "show_own_agreement",
                say("Annotators see their own agreement"),
                say(
                    "On My work: how well they agree with the others. Pairs in these figures can no longer be changed."
                ),
                AT_ONCE,
                "switch",
            ),
            SettingField(
                "lease_minutes",
                say("Minutes a pair is reserved"),
                say("How long a pair stays with the annotator who got it."),
                FROM_NOW,
                "whole",
                1,
                10_080,
            ),
            SettingField(
                "idle_seconds",
                say("Seconds until a pause"),
                say("After this long without activity, time no longer counts as work."),
                FROM_NOW,
                "whole",
                10,
                3_600,
            ),
        ),
    ),
    (
        say("Calibration"),
        (
            SettingField(
                "training_score",
                say("Training pass mark"),
                say("The share of training pairs that an annotator must get right before real pairs come."),
                AT_ONCE,
                "percentage",
                0,
                1,
            ),
            SettingField(
                "gold_rate",
                say("Gold pairs"),
                say(
                    "Their share of the pairs that an annotator gets. Annotators cannot tell which pairs these are."
                ),
                FROM_NOW,
                "percentage",
                0,
                0.5,
            ),
            SettingField(
                "repeat_rate",
                say("Repeats"),
                say("The share of own pairs that are shown again, to measure consistency."),
                FROM_NOW,
                "percentage",
                0,
                0.5,
            ),
            SettingField(
                "repeat_after",
                say("Show a pair again after this many others"),
                say("After how many other pairs an own pair may be shown again."),
                FROM_NOW,
                "whole",
                1,
                10_000,
            ),
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
