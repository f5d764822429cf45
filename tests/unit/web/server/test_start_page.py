"""The page from which the app starts: what it says of a person, and to whom."""

import base64
import hashlib
import json
import re
from html import unescape

import pytest

from annotator.web.server.gate import INLINE_SCRIPT
from annotator.web.server.start_page import SOON_NEEDED, STATIC
from tests.unit.web.conftest import Visitor


def read_told(page: str) -> dict[str, str] | None:
    """Return for whom the page asks for pairs."""
    found = re.search(r'<meta name="annotator-label" content="([^"]*)">', page)
    told: dict[str, str] | None = json.loads(unescape(found[1])) if found else None
    return told


@pytest.mark.parametrize(
    ("username", "address", "told"),
    [
        ("hanako", "/label?dataset=demo", {"dataset": "demo", "annotator": "hanako"}),
        ("lea", "/label?dataset=demo", {"dataset": "demo", "annotator": "lea"}),
        ("ada", "/label?dataset=demo", {"dataset": "demo", "annotator": "ada"}),
        ("ada", "/label?dataset=unknown", None),  # a role on every dataset, but there is none of this name
        ("hanako", "/label?dataset=law", None),  # no role there
        ("nora", "/label?dataset=demo", None),
        ("hanako", "/label", None),
        ("hanako", "/label?dataset=demo&pair=p1", None),  # an answered pair comes first
        ("hanako", "/work?dataset=demo", None),
    ],
)
def test_the_first_pairs_are_asked_for_on_the_label_page_of_those_who_may_label(
    visitor: Visitor, username: str, address: str, told: dict[str, str] | None
) -> None:
    if username != "nora":
        visitor.sign_in(username)
    assert read_told(visitor.http.get(address).text) == told


def test_what_the_address_names_is_never_markup_in_the_page(visitor: Visitor) -> None:
    visitor.sign_in("ada")
    page = visitor.http.get("/label", params={"dataset": '"><script>alert(1)</script>'}).text
    assert read_told(page) is None
    assert "alert(1)" not in page


def test_every_inline_script_is_in_the_policy_and_the_same_for_everybody(visitor: Visitor) -> None:
    visitor.sign_in("hanako")
    answer = visitor.http.get("/label?dataset=demo")
    scripts = INLINE_SCRIPT.findall(answer.content)
    assert len(scripts) == 3
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script).digest()).decode()
        assert f"'sha256-{digest}'" in answer.headers["content-security-policy"]
    assert scripts == INLINE_SCRIPT.findall(visitor.http.get("/work?dataset=demo").content)


def test_the_scripts_that_every_page_needs_are_loaded_with_it(visitor: Visitor) -> None:
    visitor.sign_in("hanako")
    page = visitor.http.get("/work?dataset=demo").text
    for name in SOON_NEEDED:
        assert re.search(
            rf'<link rel="modulepreload" crossorigin href="\./static/js/{re.escape(name)}\.', page
        ), name
        assert len(list((STATIC / "static" / "js").glob(f"{name}.*.js"))) == 1, name
