"""Keeps Streamlit from asking an outside service for this machine's addresses.

Streamlit asks when it meets a websocket origin that it does not know, and when it prints its own address: an HTTP request
to checkip.amazonaws.com, made on the event loop, so that nothing is answered meanwhile. No option turns that off.
What else in Streamlit 1.67 makes requests: usage statistics (the browser; off by `browser.gatherUsageStats`), the e-mail
prompt and `streamlit run URL` (its command line, not used here), a theme named by a URL in the operator's own config.toml.
"""

from streamlit import net_util


def forbid_outgoing_requests() -> None:
    """From now on Streamlit knows no address of this machine, and asks nobody for one."""
    net_util.get_external_ip = net_util.get_internal_ip = _find_no_address


def _find_no_address() -> str | None:
    return None
