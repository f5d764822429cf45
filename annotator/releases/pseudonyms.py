"""Pseudonyms: the number by which a person appears in a dataset's releases.

A person has one number in a dataset, given at the first release they take part in and never changed. It is
shown as `annotator_N` where they judged, and as `lead_N` where they decided or published; so a trail can
be followed from file to file, and no real name leaves.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping

from annotator.domain.people import name_annotator as name_annotator
from annotator.domain.people import name_lead as name_lead
from annotator.releases.trail import Participant


def assign_numbers(
    known: Mapping[int, int], people: Iterable[Participant], secrets: Mapping[int, str], *, seed: int
) -> dict[int, int]:
    """The numbers (from 1, by person) of those who have none yet: who judged first, then the other leads.

    Within both, the order is drawn by the seed: it follows neither accounts nor names, and is the same on
    every machine. The secrets (the smallest event id of everybody who judged; event ids are never published) enter it, so that knowing usernames and the seed is not
    enough to work it out. Numbers that are known stay.
    """

    def place(person: Participant) -> tuple[bool, bytes]:
        drawn = json.dumps([seed, person.username, secrets.get(person.key, "")])
        return person.key not in secrets, hashlib.sha256(drawn.encode()).digest()

    new = sorted((person for person in people if person.key not in known), key=place)
    after = max(known.values(), default=0)
    return {person.key: number for number, person in enumerate(new, after + 1)}
