"""List the profiles, in the order in which they are shown, and find one by its name."""

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.evaluation.profiles import code, document, law, nablarch, survey, trec
from annotator.evaluation.profiles.profile import Profile

PROFILES: tuple[Profile, ...] = (
    trec.PROFILE,
    nablarch.PROFILE,
    law.PROFILE,
    survey.PROFILE,
    code.PROFILE,
    document.PROFILE,
)


def find_profile(name: str) -> Profile:
    """Return the profile of this name. Raises ValidationError with the known names."""
    for profile in PROFILES:
        if profile.name == name:
            return profile
    names = ", ".join(profile.name for profile in PROFILES)
    raise ValidationError(say("There is no profile {name!r}. Choose one of: {names}", name=name, names=names))
