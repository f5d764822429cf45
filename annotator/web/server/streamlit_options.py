"""Set Streamlit's options, and stop what no option stops.

A websocket takes more kinds of messages than our pages send. By some of them everybody who is signed in could start
programs or make millions of objects on the event loop, while nobody else is answered.

Streamlit 1.67 asks checkip.amazonaws.com for this machine's address, on the event loop, for an unknown websocket origin
and when it prints its own address. Its other requests are usage statistics (off by `browser.gatherUsageStats`), the
e-mail prompt and `streamlit run URL` (not used here), and a theme that the operator's config.toml names by a URL.
Theme colours have a contrast of 4.5:1 for text and 3:1 for controls.
"""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from streamlit import net_util
from streamlit.components.v2 import manifest_scanner

from annotator.web.server.uploads import MOST_IMPORT_FILES, MOST_IMPORT_MB

if TYPE_CHECKING:
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.runtime.app_session import AppSession

TAKEN = frozenset({"rerun_script", "stop_script", "app_heartbeat", "file_urls_request"})
"""The kinds of websocket messages that our pages send. All others are dropped."""
MOST_WIDGETS = 10_000
"""How many fields a page may report at a time, many times as many as any has: each is looked at in Python."""


def forbid_outgoing_requests() -> None:
    """Stop Streamlit from asking other machines for this machine's address."""
    net_util.get_external_ip = net_util.get_internal_ip = _find_no_address


def _find_no_address() -> str | None:
    return None


def ignore_components_of_packages() -> None:
    """Stop Streamlit from looking for components in other installed packages, which takes 0.15 s at each start."""
    cast(Any, manifest_scanner).scan_component_manifests = list


@cache
def drop_other_messages() -> None:
    """Let websockets take only messages of TAKEN, with at most MOST_WIDGETS fields and the files of an import."""
    from streamlit.runtime.app_session import AppSession

    handle = AppSession.handle_backmsg

    def handle_ours(session: "AppSession", message: "BackMsg") -> None:
        files = len(message.file_urls_request.file_names)
        widgets = len(message.rerun_script.widget_states.widgets)
        if message.WhichOneof("type") in TAKEN and files <= MOST_IMPORT_FILES and widgets <= MOST_WIDGETS:
            handle(session, message)

    cast(Any, AppSession).handle_backmsg = handle_ours


FONT = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Hiragino Sans', 'Yu Gothic UI', Meiryo, "
    "'Apple SD Gothic Neo', 'Malgun Gothic', 'Noto Sans CJK JP', 'Noto Sans CJK KR', sans-serif"
)
CODE_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Noto Sans Mono CJK JP', monospace"

LIGHT = {
    "primaryColor": "#19616b",
    "backgroundColor": "#ffffff",
    "secondaryBackgroundColor": "#f1f3ef",
    "textColor": "#1c2326",
    "linkColor": "#155a64",
    "borderColor": "#d3d8d3",
    "sidebar.backgroundColor": "#f4f5f1",
    "sidebar.secondaryBackgroundColor": "#e7eae4",
}
DARK = {
    "primaryColor": "#25808c",
    "backgroundColor": "#14181a",
    "secondaryBackgroundColor": "#1f2629",
    "textColor": "#e8ebe8",
    "linkColor": "#7cc4cd",
    "borderColor": "#39433f",
    "sidebar.backgroundColor": "#1a1f22",
    "sidebar.secondaryBackgroundColor": "#262e31",
}


# What a config.toml or a variable of the environment must not open: options given to the app go before both.
CLOSED = {
    "global.developmentMode": False,
    "browser.gatherUsageStats": False,
    "server.showEmailPrompt": False,
    "server.enableCORS": True,
    "server.corsAllowedOrigins": [],
    "server.enableXsrfProtection": True,
    "server.enableAgentApi": False,
    "server.enableStaticServing": False,
    "server.scriptHealthCheckEnabled": False,
    "server.trustedUserHeaders": {},
    "client.allowedOrigins": [],
}


def make_config(host: str, port: int) -> Mapping[str, Any]:
    """Return Streamlit's options by name. The garbage collection after each run is off: it took two thirds of a run."""
    return {
        **CLOSED,
        "server.address": host,
        "server.port": port,
        "server.headless": True,
        "server.fileWatcherType": "none",
        "server.runOnSave": False,
        "server.maxUploadSize": MOST_IMPORT_MB,
        "server.maxWidgetStateSize": 5,  # MB, of a message from a browser: what is typed into a page's fields
        "runner.postScriptGC": False,
        "runner.magicEnabled": False,
        "client.toolbarMode": "minimal",
        "client.showErrorDetails": "none",
        "client.showErrorLinks": False,
        "client.showSidebarNavigation": False,
        "logger.hideWelcomeMessage": True,
        "logger.enableRich": False,  # else it prints a traceback for every refusal, past our log
        "theme.font": FONT,
        "theme.codeFont": CODE_FONT,
        "theme.headingFontSizes": ["1.875rem", "1.375rem", "1.125rem", "1rem", "1rem", "1rem"],
        "theme.baseRadius": "medium",
        "theme.showSidebarBorder": False,
        **{f"theme.light.{name}": value for name, value in LIGHT.items()},
        **{f"theme.dark.{name}": value for name, value in DARK.items()},
    }
