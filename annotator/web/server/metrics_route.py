"""`GET /metrics` on the app's own port, for Prometheus with a token: only if ANNOTATOR_METRICS_TOKEN_FILE names one.

No session and no cookie counts here: whoever sends the token reads the metrics, which name no person, dataset or text.
"""

import hmac
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotator.domain.errors import ValidationError
from annotator.settings import Settings
from annotator.web.server.figures import collect_figures

ADDRESS = "/metrics"
SHORTEST_TOKEN = 20
SETTING = "ANNOTATOR_METRICS_TOKEN_FILE"


def read_metrics_token(settings: Settings) -> str | None:
    """Return the token, None if none is set. ValidationError if the file cannot be read, or holds something that can be guessed."""
    if settings.metrics_token_file is None:
        return None
    try:
        token = Path(settings.metrics_token_file).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not ASCII"
        raise ValidationError(f"{SETTING}: {settings.metrics_token_file} cannot be read: {why}") from None
    if len(token) < SHORTEST_TOKEN or len(token.split()) != 1:
        raise ValidationError(
            f"{SETTING}: expected one word of at least {SHORTEST_TOKEN} characters, such as of: openssl rand -hex 32"
        )
    return token


def routes(settings: Settings) -> list[Route]:
    """Return the route, or none without a token. The token is read once."""
    token = read_metrics_token(settings)
    if token is None:
        return []
    expected = f"Bearer {token}".encode()

    async def get_metrics(request: Request) -> Response:
        given = request.headers.get("authorization", "").encode("latin-1", "replace")
        if not hmac.compare_digest(given, expected):
            refused = {"WWW-Authenticate": "Bearer"}
            return JSONResponse({"error": "this needs the metrics token"}, 401, headers=refused)
        body, kind = await run_in_threadpool(collect_figures, request.headers.get("accept", ""))
        return Response(body, headers={"Content-Type": kind})

    return [Route(ADDRESS, get_metrics, methods=["GET"])]
