"""The security headers of every response, and what may be cached."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

import streamlit
from starlette.datastructures import MutableHeaders

OWN_FILES = ("/login.css", "/favicon.png")
INLINE_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


ELSE = "; ".join(
    (
        "default-src 'self'",
        "style-src 'self' 'unsafe-inline'",  # Streamlit styles by inline elements
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "frame-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)


@cache
def make_policy() -> str:
    """The Content-Security-Policy: our own scripts, and the inline ones of Streamlit's page by their hashes."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_bytes()
    digests = [hashlib.sha256(script).digest() for script in INLINE_SCRIPT.findall(page)]
    inline = "".join(f" 'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return f"script-src 'self' blob: 'wasm-unsafe-eval'{inline}; {ELSE}"


def secure(headers: MutableHeaders, path: str, *, https: bool) -> None:
    """Add them. Only the program's own files may be kept by a cache."""
    headers["Content-Security-Policy"] = make_policy()
    headers["X-Content-Type-Options"] = "nosniff"
    headers["X-Frame-Options"] = "DENY"
    headers["Referrer-Policy"] = "same-origin"
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
    if https:
        headers["Strict-Transport-Security"] = "max-age=31536000"
    if not path.startswith("/static/") and path not in OWN_FILES:
        headers["Cache-Control"] = "no-store"
