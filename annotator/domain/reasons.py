"""Why a pair waits for a lead, in words: short ones, as the queue, the overview and the command line say them."""

from annotator.domain.disputes import Reason
from annotator.domain.messages import say

REASONS = {
    Reason.DIFFER: say("grades differ"),
    Reason.UNRATEABLE: say("unrateable for some"),
    Reason.QUALITY: say("quality control"),
    Reason.OBJECTION: say("objection"),
    Reason.QUESTION: say("question"),
    Reason.STALE: say("older guideline"),
}
