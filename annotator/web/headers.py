"""The security headers of every response, and what may be cached."""

from starlette.datastructures import MutableHeaders

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' blob: 'wasm-unsafe-eval'",
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


def secure(headers: MutableHeaders, path: str, *, https: bool) -> None:
    """Add them. Only the program's own files (`/static/`, `/login.css`) may be kept by a cache."""
    headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
    headers["X-Content-Type-Options"] = "nosniff"
    headers["X-Frame-Options"] = "DENY"
    headers["Referrer-Policy"] = "same-origin"
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
    if https:
        headers["Strict-Transport-Security"] = "max-age=31536000"
    if not path.startswith("/static/") and path != "/login.css":
        headers["Cache-Control"] = "no-store"
