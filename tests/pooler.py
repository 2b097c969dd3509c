"""A real PgBouncer in transaction mode before the tests' PostgreSQL: three connections for all."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

POOL_SIZE = 3
PATIENCE = 30  # seconds
SETTINGS = """\
[databases]
* = {server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users
pool_mode = {mode}
default_pool_size = {size}
{tls}
logfile = {folder}/log
pidfile = {folder}/pid
"""


TLS = """\
client_tls_sslmode = allow
client_tls_key_file = {folder}/key.pem
client_tls_cert_file = {folder}/certificate.pem
"""


class Pooler:
    """A process of PgBouncer: it can be stopped and started."""

    def __init__(self, server: str, mode: str = "transaction") -> None:
        program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
        if program is None:
            pytest.skip("needs PgBouncer: install Debian's pgbouncer")
        self._folder = tempfile.TemporaryDirectory(prefix="kb-pooler-")
        self._port = _free_port()
        self._user = str(conninfo_to_dict(server).get("user") or "postgres")
        self._command = [program, *_as_owner(server), f"{self._folder.name}/settings"]
        self._process: subprocess.Popen[bytes] | None = None
        self._write(server, mode)
        self.start()

    def _write(self, server: str, mode: str) -> None:
        folder = Path(self._folder.name)
        parts = conninfo_to_dict(server)
        where = " ".join(f"{key}={parts[key]}" for key in ("host", "port") if parts.get(key))
        tls = TLS.format(folder=folder) if _certified(folder) else ""
        own = {"port": self._port, "size": POOL_SIZE, "mode": mode}
        settings = SETTINGS.format(server=where, folder=folder, tls=tls, **own)
        (folder / "settings").write_text(settings)
        password = parts.get("password") or ""
        (folder / "users").write_text(f'"{self._user}" "{password}"\n')
        folder.chmod(0o777)  # it may run as another user

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        ends = time.monotonic() + PATIENCE
        while True:
            try:
                return psycopg.connect(self.url("postgres"), connect_timeout=2).close()
            except psycopg.OperationalError:
                if time.monotonic() > ends:
                    raise
            time.sleep(0.05)

    def stop(self) -> None:
        """At once: whoever is connected is cut off."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(PATIENCE)
            self._process = None

    def close(self) -> None:
        self.stop()
        self._folder.cleanup()

    @property
    def certificate(self) -> Path:
        """What it shows to those who ask for TLS; not there without openssl."""
        return Path(self._folder.name) / "certificate.pem"

    def url(self, database: str) -> str:
        return f"postgresql://{self._user}@127.0.0.1:{self._port}/{database}"

    def before(self, url: str) -> str:
        """The URL of the same base through the pooler."""
        parts = urlsplit(url)
        base = f"#{parts.fragment}" if parts.fragment else ""
        return self.url(parts.path.lstrip("/")) + base


def _certified(folder: Path) -> bool:
    """Make a certificate for this machine; whether that is possible."""
    if not shutil.which("openssl"):
        return False
    words = "req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 2"
    words += " -subj /CN=kb -addext subjectAltName=IP:127.0.0.1 -keyout key.pem"
    command = ["openssl", *words.split(), "-out", "certificate.pem"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (folder / "key.pem").chmod(0o644)
    return True


def _as_owner(server: str) -> list[str]:
    """PgBouncer does not run as root, and must reach the server's socket."""
    folder = Path(str(conninfo_to_dict(server).get("host")))
    if os.name != "posix" or os.geteuid() != 0:
        return []
    return ["-u", folder.owner() if folder.is_dir() else "nobody"]


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])
