"""Name roles, statuses, origins, states and purposes in the reader's language.

Files, URLs and the database keep the English word; only texts for people are translated.
"""

from annotator.domain.messages import say
from annotator.domain.people import ROLE_NAMES, Membership
from annotator.web.kit.messages import tr

NAMES = {
    str(word): word
    for word in (
        say("all"), say("nothing"), say("each other"),
        say("unjudged"), say("imported"), say("single"), say("unanimous"),
        say("disagreement"), say("reopened"), say("adjudicated"),
        say("complete"), say("begun"), say("untouched"),
        say("open"), say("decided"),
        say("distance"), say("impact"), say("age"),
        say("simulated"),
        say("independent"), say("conditional"), say("training"), say("gold"), say("repeat"),
        say("whole"), say("missing"), say("changed"),
        say("unweighted"), say("linear"), say("quadratic"), say("nominal"), say("ordinal"), say("interval"),
        say("annotator"), say("lead"), say("admin"),
        say("category"), say("language"), say("query_type"), say("difficulty"), say("primary_domain"),
        say("revision"), say("further judgment"), say("adjudication"), say("re-import"), say("remap"),
        say("patch"), say("minor"), say("major"),
        say("import"), say("proposed by an annotator"),
    )
} | {
    "quality": say("quality control"), "unrateable": say("cannot rate"), "present state": say("current grades"),
}  # fmt: skip


def name_word(word: str) -> str:
    """Return the word in the reader's language. Returns unknown words unchanged."""
    return tr(NAMES[word]) if word in NAMES else word


def name_role(role: str) -> str:
    """Return the role's name in the reader's language. Returns other texts unchanged."""
    return tr(ROLE_NAMES[role]) if role in ROLE_NAMES else role


def describe_membership(held: Membership) -> str:
    """Return a role and its dataset in words."""
    role = name_role(held.role)
    if held.dataset is None:
        return tr("{role} on every dataset", role=role)
    return tr("{role} on {dataset}", role=role, dataset=held.dataset)
