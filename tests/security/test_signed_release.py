"""A signed release: a remade checksum shows, also where every file agrees with every other.

Each test runs with a stand-in for ssh-keygen, and with the computer's own where there is one.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import pytest

from annotator.domain.errors import StateError, ValidationError
from annotator.domain.people import OPERATOR
from annotator.people.roles_service import find_actor
from annotator.releases.files_service import list_releases, open_release, verify_release
from annotator.releases.gates_service import check_release
from annotator.releases.service import publish_release
from annotator.releases.verify.signing import check_key
from annotator.releases.writing.folder import PartialFolder
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from tests.integration.judged_world import NOW, JudgedWorld

REAL = shutil.which("ssh-keygen") or "ssh-keygen"
STAND_IN = """#!{python}
import hashlib, sys
words = sys.argv[1:]
options = dict(zip(words[::2], words[1::2]))
def read(path): return open(path, "rb").read()
def make(secret, data, namespace): return hashlib.sha256(secret + namespace.encode() + data).hexdigest()
if options["-Y"] == "sign":
    key = read(options["-f"])
    if b"PRIVATE" not in key: sys.exit("no private key")
    public = hashlib.sha256(key).hexdigest()
    with open(words[-1] + ".sig", "w") as made:
        seal = make(public.encode(), read(words[-1]), options["-n"])
        print("-----BEGIN SSH SIGNATURE-----", public, seal, "-----END SSH SIGNATURE-----", sep="\\n", file=made)
else:
    _, public, seal, _ = read(options["-s"]).decode().split("\\n")[:4]
    allowed = [line.split() for line in open(options["-f"]) if line.strip()]
    names = [line[0] for line in allowed if line[-1] == public]
    if options["-Y"] == "find-principals":
        print(*names, sep="\\n")
        sys.exit(0 if names else 255)
    good = options["-I"] in names and seal == make(public.encode(), sys.stdin.buffer.read(), options["-n"])
    sys.exit(0 if good else 255)
"""


class Keys:
    """A folder of keys, made by the program that the tests run with."""

    def __init__(self, folder: Path, *, real: bool) -> None:
        self.folder, self.real = folder, real

    def make(self, name: str) -> Path:
        key = self.folder / name
        if self.real:
            subprocess.run([REAL, "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(key)], check=True)
        else:
            key.write_text(f"PRIVATE {name}\n")
            key.with_suffix(".pub").write_text(
                f"ssh-ed25519 {hashlib.sha256(key.read_bytes()).hexdigest()}\n"
            )
        return key


@pytest.fixture(params=["stand-in", "ssh-keygen"])
def keys(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Keys:
    folder = tmp_path / "keys"
    folder.mkdir()
    if request.param == "stand-in":
        program = folder / "ssh-keygen"
        program.write_text(STAND_IN.format(python=sys.executable))
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return Keys(folder, real=request.param != "stand-in")


@pytest.fixture
def world(tmp_path: Path) -> JudgedWorld:
    database = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(database)
    made = JudgedWorld(database)
    made.query("Q1", "検索")
    made.pair("Q1", "문서")
    for person in (made.person("one"), made.person("two")):
        made.judge(person, "Q1", "문서", 2)
    made.person("lead", "lead")
    return made


def publish(world: JudgedWorld, exports: Path, key: Path | None) -> Path:
    with world.database.read() as session:
        lead = find_actor(session, "lead")
    gates = check_release(world.database, lead, "d").gates
    return publish_release(
        world.database, lead, "d", "1.0.0", exports_dir=exports, now=NOW, sign_with=key,
        overrides={gate.name: "test" for gate in gates if not gate.met},
    ).path  # fmt: skip


def rewrite(path: Path, text: str) -> None:
    path.chmod(0o644)
    path.write_text(text, encoding="utf-8")


def test_a_signed_release_is_whole_and_says_by_whom(world: JudgedWorld, keys: Keys, tmp_path: Path) -> None:
    key = keys.make("publisher")
    folder = publish(world, tmp_path, key)
    verification = verify_release(folder, signers=key.with_suffix(".pub"))
    assert (verification.faults, verification.signed_by) == ((), "publisher.pub")
    assert not any("signature" in sentence for sentence in verification.unproven)
    allowed = keys.folder / "allowed"
    allowed.write_text(f"lead@example.org {key.with_suffix('.pub').read_text()}")
    assert verify_release(folder, signers=allowed).signed_by == "lead@example.org"
    assert any("was not checked (--signed-by)" in sentence for sentence in verify_release(folder).unproven)


def test_a_key_or_a_list_that_was_saved_with_a_byte_order_mark_is_read(
    world: JudgedWorld, keys: Keys, tmp_path: Path
) -> None:
    key = keys.make("publisher")
    folder = publish(world, tmp_path, key)
    public = key.with_suffix(".pub").read_text()
    for text, name in ((public, "marked"), (f"lead@example.org {public}", "lead@example.org")):
        (keys.folder / "marked").write_text(text, encoding="utf-8-sig")
        verification = verify_release(folder, signers=keys.folder / "marked")
        assert (verification.faults, verification.signed_by) == ((), name)


SIGN_AT_A_TERMINAL = """
import fcntl, sys, termios
from pathlib import Path
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from annotator.releases.verify.signing import sign
print(sign("0  qrels.trec.txt\\n", Path(sys.argv[1])))
"""


def test_the_passphrase_of_a_key_is_asked_for_at_the_terminal_also_on_a_desktop(tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run([REAL, "-q", "-t", "ed25519", "-N", "secret pass", "-f", str(key)], check=True)
    desktop = {**os.environ, "DISPLAY": ":99", "SSH_ASKPASS": str(tmp_path / "no such window")}
    desktop.pop("SSH_AUTH_SOCK", None)
    ours, terminal = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", SIGN_AT_A_TERMINAL, str(key)],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        env=desktop,
    ):
        os.close(terminal)
        shown = b""
        with suppress(OSError):  # the other end is closed
            while piece := os.read(ours, 4096):
                shown += piece
                if piece.endswith(b"assphrase: "):
                    os.write(ours, b"secret pass\n")
    os.close(ours)
    assert b"-----BEGIN SSH SIGNATURE-----" in shown, shown


def test_remade_checksums_show(world: JudgedWorld, keys: Keys, tmp_path: Path) -> None:
    key = keys.make("publisher")
    folder = publish(world, tmp_path, key)
    rewrite(folder / "DATASHEET.md", "# nothing measured\n")
    manifest = json.loads((folder / "manifest.json").read_bytes())
    for entry in manifest["files"]:
        data = (folder / entry["path"]).read_bytes()
        entry["sha256"], entry["bytes"] = hashlib.sha256(data).hexdigest(), len(data)
    rewrite(folder / "manifest.json", json.dumps(manifest))
    names = [line.split("  ")[1] for line in (folder / "SHA256SUMS").read_text().splitlines()]
    rewrite(
        folder / "SHA256SUMS",
        "".join(f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names),
    )
    assert verify_release(folder).faults == ()
    (fault,) = verify_release(folder, signers=key.with_suffix(".pub")).faults
    assert (fault.path, fault.found) == (
        "SHA256SUMS.sig",
        "one of SHA256SUMS as it was before, or for something else",
    )


def test_another_key_and_no_signature_are_faults(world: JudgedWorld, keys: Keys, tmp_path: Path) -> None:
    folder = publish(world, tmp_path, keys.make("publisher"))
    other = keys.make("other").with_suffix(".pub")
    (fault,) = verify_release(folder, signers=other).faults
    assert fault.found == "one of another key, or none"
    (folder / "SHA256SUMS.sig").unlink()
    (fault,) = verify_release(folder, signers=other).faults
    assert (fault.path, fault.expected, fault.found) == ("SHA256SUMS.sig", "a signature by other.pub", "none")
    assert list_releases(world.database, OPERATOR, "d", exports_dir=tmp_path)[0].folder == "changed"


def test_the_signature_is_served_as_it_was_made(world: JudgedWorld, keys: Keys, tmp_path: Path) -> None:
    folder = publish(world, tmp_path, keys.make("publisher"))
    opened = open_release(world.database, OPERATOR, "d", "1.0.0", exports_dir=tmp_path)
    sent = {name: b"".join(file.read()) for name, file in opened.files.items()}
    opened.close()
    assert opened.release.signed
    assert sent["SHA256SUMS.sig"] == (folder / "SHA256SUMS.sig").read_bytes()
    assert "SHA256SUMS.sig" not in (folder / "SHA256SUMS").read_text()


def test_the_private_key_is_nowhere(
    world: JudgedWorld, keys: Keys, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    key = keys.make("publisher")
    publish(world, tmp_path / "exports", key)
    secret = key.read_bytes().splitlines()[-2 if keys.real else 0]
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path != key]
    assert not [path for path in written if secret in path.read_bytes()]
    printed = capfd.readouterr()
    assert secret.decode() not in printed.out + printed.err


def test_a_key_that_cannot_sign_leaves_nothing(world: JudgedWorld, keys: Keys, tmp_path: Path) -> None:
    exports = tmp_path / "exports"
    with pytest.raises(ValidationError, match="--sign: expected a key file"):
        publish(world, exports, keys.folder / "missing")
    (keys.folder / "no key").write_text("nothing\n")
    with pytest.raises(StateError, match="ssh-keygen could not sign"):
        publish(world, exports, keys.folder / "no key")
    assert [path for path in exports.rglob("*") if path.is_file()] == []
    assert list_releases(world.database, OPERATOR, "d", exports_dir=exports) == []


def test_a_key_that_cannot_sign_is_refused_before_anything_is_written(
    world: JudgedWorld, keys: Keys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(*_arguments: object) -> NoReturn:
        raise AssertionError("something was written")

    monkeypatch.setattr(PartialFolder, "__init__", write)
    (keys.folder / "no key").write_text("nothing\n")
    with pytest.raises(StateError, match="ssh-keygen could not sign"):
        publish(world, tmp_path / "exports", keys.folder / "no key")


def test_a_key_with_a_passphrase_is_asked_for_it_only_when_the_release_is_signed(tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run([REAL, "-q", "-t", "ed25519", "-N", "secret pass", "-f", str(key)], check=True)
    check_key(key)


def test_a_private_key_is_refused_where_a_public_one_is_asked_for(
    world: JudgedWorld, keys: Keys, tmp_path: Path
) -> None:
    folder = publish(world, tmp_path, keys.make("publisher"))
    (keys.folder / "secret").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    with pytest.raises(ValidationError, match="expected a public key, found a private one"):
        verify_release(folder, signers=keys.folder / "secret")
    with pytest.raises(ValidationError, match="found none at"):
        verify_release(folder, signers=keys.folder / "missing")


def test_without_ssh_keygen_a_clear_sentence_says_so(
    world: JudgedWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "key").write_text("x")
    with pytest.raises(StateError, match="need ssh-keygen"):
        publish(world, tmp_path / "exports", tmp_path / "key")
    assert verify_release(publish(world, tmp_path / "exports", None)).faults == ()
