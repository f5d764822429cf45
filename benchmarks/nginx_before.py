"""A real nginx with deploy/nginx.conf before servers of this machine: other ports, and a certificate made for it."""

import os
import re
import shutil
import subprocess
from pathlib import Path

CONFIGURATION = Path(__file__).parents[1] / "deploy" / "nginx.conf"
UPSTREAM = re.compile(r"(?: +server \S+ max_fails=1 fail_timeout=2s;\n)+")


def find_nginx() -> str | None:
    """Return the path of nginx, which is often where only root looks."""
    return shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")


def render_configuration(
    folder: Path, *, port: int, plain_port: int, servers: list[int], text: str | None = None
) -> str:
    """Put this folder, these two ports of its own, and the ports of the servers behind it into deploy/nginx.conf.

    `text`: the configuration to change instead.
    """
    text = CONFIGURATION.read_text(encoding="utf-8") if text is None else text
    replacements = {
        r"listen \d+ ssl;": f"listen 127.0.0.1:{port} ssl;",
        r"listen \d+;": f"listen 127.0.0.1:{plain_port};",
        r"\S+/(tls\.\w+);": rf"{folder}/\1;",
        r"/\S+/nginx\.pid;": f"{folder}/nginx.pid;",
        r"/\S+/nginx[/-](\w+);": rf"{folder}/nginx-\1;",
        r"error_log \S+": "error_log /dev/stderr",
        r"access_log \S+": "access_log /dev/stdout",
        "worker_processes auto": "worker_processes 1",
    }
    for old, new in replacements.items():
        text, replaced = re.subn(old, new, text)
        assert replaced, old
    lines = "".join(f"        server 127.0.0.1:{server} max_fails=1 fail_timeout=2s;\n" for server in servers)
    text, replaced = UPSTREAM.subn(lines, text)
    assert replaced == 1
    is_root = os.geteuid() == 0  # then its workers would be somebody else, who cannot enter this folder
    return f"user root;\n{text}" if is_root else text


def make_certificate(folder: Path) -> None:
    """Write tls.key and tls.crt for 127.0.0.1, signed by nobody."""
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1"
    )
    files = ["-keyout", str(folder / "tls.key"), "-out", str(folder / "tls.crt")]
    subprocess.run([*command.split(), *files], check=True, capture_output=True)
