"""Under which names a server is asked, and from which pages."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from conftest import Kb
from servers import Served, serving, two_projects


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Host": "evil.example:8620"}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Host": ""}, 403),
        ({"Host": "evil@localhost"}, 403),
        ({"Host": "evil:secret@127.0.0.1:8620"}, 403),
        ({"Host": "localhost/evil.example"}, 403),
        ({"Host": "localhost#evil.example"}, 403),
        ({"Host": "localhost?"}, 403),
        ({"Host": "localhost evil"}, 403),
        ({"Host": "local\thost"}, 403),
        ({"Host": "localhost:port"}, 403),
        ({"Host": "localhost:65536"}, 403),
        ({"Host": "localhost:-1"}, 403),
        ({"Host": "localhost\u0661".encode()}, 403),
        ({"Host": "loc%61lhost"}, 403),
        ({"Host": "[127.0.0.1]"}, 403),
        ({"Host": "[::1"}, 403),
        ({"Host": "[::1%25eth0]"}, 403),
        ({"Host": "::1"}, 403),
        ({"Host": ".localhost"}, 403),
        ({"Host": "localhost.."}, 403),
        ({"Host": "LocalHost.:8620"}, 200),
        ({"Host": "[0:0:0:0:0:0:0:1]"}, 200),
        ({"Host": "kb.example.com.:443"}, 200),
        ({"Host": "localhost"}, 200),
        ({"Host": "[::1]:9"}, 200),
        ({"Host": "KB.example.com"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://x["}, 403),
        ({"Origin": "http://127.0.0.1:1@evil.com"}, 403),
        ({"Host": "localhost", "Origin": "http://evil@localhost"}, 403),
        ({"Host": "localhost", "Origin": "http://localhost/evil"}, 403),
        ({"Host": "localhost", "Origin": "file://localhost"}, 403),
        ({"Host": "localhost", "Origin": "http://localhost:81"}, 403),
        ({"Host": "localhost:80", "Origin": "http://LOCALHOST"}, 200),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Host": "localhost:8620", "Origin": "http://localhost:8620"}, 200),
        ({"Origin": "https://wiki.example.com", "Sec-Fetch-Site": "cross-site"}, 200),
    ],
)
def test_only_known_names_and_pages_are_answered(
    careful: Served, headers: Any, status: int
) -> None:
    """Against DNS rebinding, on loopback too."""
    assert careful.client.get("/api/tags", headers=headers).status_code == status


@pytest.fixture(scope="module")
def careful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    env = {"KB_SERVE_HOSTS": "kb.example.com", "KB_SERVE_ORIGINS": "https://wiki.example.com"}
    folder = tmp_path_factory.mktemp("careful")
    Kb(folder)("init")
    with serving(folder, env=env) as server:
        yield server


def test_pages_elsewhere_may_read_answers_only_if_configured(careful: Served) -> None:
    def preflight(origin: str) -> httpx.Response:
        headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        return careful.client.options("/api/search", headers=headers)

    allowed = preflight("https://wiki.example.com")
    assert allowed.headers["access-control-allow-origin"] == "https://wiki.example.com"
    refused = preflight("https://evil.example")
    assert refused.status_code == 403
    assert "access-control-allow-origin" not in refused.headers


def test_a_page_can_read_why_it_was_refused(tmp_path: Path) -> None:
    """And may send what makes a write safe to repeat."""
    folder = two_projects(tmp_path / "base")
    origin = "https://wiki.example.com"
    Kb(folder)("token", "new", "reader", "--scope", "read")
    with serving(folder, env={"KB_SERVE_ORIGINS": origin}) as server:
        refused = server.client.get("/api/tags", headers={"Origin": origin})
        assert refused.status_code == 401
        assert refused.headers["access-control-allow-origin"] == origin
        asked = {
            "Origin": origin,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "idempotency-key",
        }
        assert server.client.options("/api/notes", headers=asked).status_code == 200
